#include <string.h>

#include "arch/arch.h"

enum { WORD = 8 };

static bool read_word(const struct unwind_source *source, uint64_t address, uint64_t *value, uint64_t *unreadable)
{
	if (source->read(source->context, address, value) == 0)
		return true;
	*unreadable = address;
	return false;
}

/* --- the ucontext ---
 *
 * struct ucontext: uc_flags, uc_link, uc_stack (3 words), then uc_mcontext.gregs:
 *   r8 40, r9 48, ... r15 96, rdi 104, rsi 112, rbp 120, rbx 128, rdx 136,
 *   rax 144, rcx 152, rsp 160, rip 168
 */
enum { UCONTEXT_RBP = 120, UCONTEXT_RSP = 160, UCONTEXT_RIP = 168 };

bool arch_read_ucontext(const struct unwind_source *source, uint64_t address, struct unwind_registers *registers,
			uint64_t *unreadable)
{
	/* In the order of DWARF's numbers. */
	static const uint8_t offsets[UNWIND_REGISTERS] = {
		144, 136, 152, 128, 112, 104, UCONTEXT_RBP, UCONTEXT_RSP, 40, 48, 56, 64, 72, 80, 88, 96, UCONTEXT_RIP,
	};
	struct unwind_registers all;
	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		if (!read_word(source, address + offsets[i], &all.value[i], unreadable))
			return false;
	*registers = all;
	return true;
}

static bool signal_step(const struct unwind_source *source, uint64_t ucontext, struct arch_registers *registers,
			uint64_t *unreadable)
{
	struct arch_registers interrupted;
	if (!read_word(source, ucontext + UCONTEXT_RIP, &interrupted.rip, unreadable) ||
	    !read_word(source, ucontext + UCONTEXT_RSP, &interrupted.rsp, unreadable) ||
	    !read_word(source, ucontext + UCONTEXT_RBP, &interrupted.rbp, unreadable))
		return false;
	*registers = interrupted;
	return true;
}

bool arch_step(const struct unwind_row *row, const struct unwind_source *source, struct arch_registers *registers,
	       uint64_t *unreadable)
{
	uint64_t offset = (uint64_t)(int64_t)row->cfa * WORD;
	uint64_t cfa;
	uint64_t rip;
	uint64_t rbp = registers->rbp;
	switch ((enum unwind_kind)row->kind) {
	case UNWIND_RSP:
		cfa = registers->rsp + offset;
		break;
	case UNWIND_RBP:
		cfa = registers->rbp + offset;
		break;
	case UNWIND_RBP_DEREF:
		if (!read_word(source, registers->rbp + offset, &cfa, unreadable) ||
		    !read_word(source, registers->rbp, &rbp, unreadable))
			return false;
		break;
	case UNWIND_PLT:
		cfa = registers->rsp + offset + ((registers->rip & 15) >= (uint8_t)row->fp ? WORD : 0);
		break;
	case UNWIND_SIGNAL:
		return signal_step(source, registers->rsp + offset, registers, unreadable);
	case UNWIND_NO_RULE:
	case UNWIND_END:
	case UNWIND_SLOW:
	default:
		*unreadable = registers->rip;
		return false;
	}
	if (!read_word(source, cfa - WORD, &rip, unreadable))
		return false;
	if ((row->kind == UNWIND_RSP || row->kind == UNWIND_RBP) && row->fp != 0 &&
	    !read_word(source, cfa + (uint64_t)(int64_t)row->fp * WORD, &rbp, unreadable))
		return false;
	*registers = (struct arch_registers){ .rip = rip, .rsp = cfa, .rbp = rbp };
	return true;
}

/* --- where there is no rule --- */

bool arch_is_sigreturn(const struct unwind_source *source, uint64_t pc)
{
	/* mov $15,%rax or mov $15,%eax, then syscall; the pc may be at either. */
	enum { SYSCALL = 0x050f, LONG_MOV_BYTES = 7, SHORT_MOV_BYTES = 5 };
	const uint64_t long_mov = UINT64_C(0x0f0000000fc0c748);
	const uint64_t short_mov = UINT64_C(0x050f0000000fb8);
	const uint64_t short_mask = UINT64_C(0xffffffffffffff);
	uint64_t code;
	uint64_t next;
	if (source->read(source->context, pc, &code) != 0)
		return false;
	if (code == long_mov)
		return source->read(source->context, pc + LONG_MOV_BYTES, &next) == 0 && (next & 0xffff) == SYSCALL;
	if ((code & short_mask) == short_mov)
		return true;
	if ((code & 0xffff) != SYSCALL)
		return false;
	return (source->read(source->context, pc - LONG_MOV_BYTES, &code) == 0 && code == long_mov) ||
	       (source->read(source->context, pc - SHORT_MOV_BYTES, &code) == 0 && (code & short_mask) == short_mov);
}

enum arch_call arch_call_in(const uint8_t code[ARCH_CALL_BYTES], uint64_t return_address, uint64_t *target)
{
	/*
	 * A call is
	 *   e8 rel32                            5 bytes
	 *   [prefix] ff /2 [sib] [disp8|disp32] 2 to 8 bytes
	 * ModRM's middle three bits are 2; its upper two, its lower three and
	 * a SIB byte say how many bytes follow.
	 */
	enum { DIRECT_BYTES = 5, DIRECT = 0xe8, INDIRECT = 0xff };
	*target = 0;
	if (code[ARCH_CALL_BYTES - DIRECT_BYTES] == DIRECT) {
		int32_t distance;
		memcpy(&distance, code + ARCH_CALL_BYTES - sizeof(distance), sizeof(distance));
		*target = return_address + (uint64_t)(int64_t)distance;
		return ARCH_CALL;
	}
	for (unsigned length = 2; length < ARCH_CALL_BYTES; length++) {
		const uint8_t *instruction = code + ARCH_CALL_BYTES - length;
		if (instruction[0] != INDIRECT || (instruction[1] >> 3 & 7) != 2)
			continue;
		unsigned mode = instruction[1] >> 6;
		bool has_sib = mode != 3 && (instruction[1] & 7) == 4;
		bool is_absolute = mode == 0 &&
				   ((instruction[1] & 7) == 5 || (has_sib && length > 2 && (instruction[2] & 7) == 5));
		unsigned displacement = mode == 1 ? 1 : mode == 2 || is_absolute ? 4 : 0;
		if (2 + has_sib + displacement == length)
			return ARCH_CALL;
	}
	return ARCH_NO_CALL;
}

enum arch_call arch_call_before(const struct unwind_source *source, uint64_t return_address, uint64_t *target)
{
	uint64_t word;
	uint8_t code[ARCH_CALL_BYTES];
	*target = 0;
	if (return_address < ARCH_CALL_BYTES ||
	    source->read(source->context, return_address - ARCH_CALL_BYTES, &word) != 0)
		return ARCH_CALL_UNKNOWN;
	memcpy(code, &word, sizeof(code));
	return arch_call_in(code, return_address, target);
}

bool arch_is_stub(const uint8_t *code, size_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	at += at < size && code[at] == 0xf2; /* bnd */
	return at + 1 < size && code[at] == 0xff && code[at + 1] == 0x25;
}

bool arch_ends_in_system_call(const uint8_t code[ARCH_SYSTEM_CALL_BYTES])
{
	return code[0] == 0x0f && code[1] == 0x05;
}

bool arch_frame_pointer_step(const struct unwind_source *source, struct arch_registers *registers)
{
	uint64_t rbp;
	uint64_t rip;
	uint64_t at = registers->rbp;
	if (at < registers->rsp || at % WORD != 0 || at > UINT64_MAX - 2 * (uint64_t)WORD)
		return false;
	if (source->read(source->context, at, &rbp) != 0 || source->read(source->context, at + WORD, &rip) != 0)
		return false;
	*registers = (struct arch_registers){ .rip = rip, .rsp = at + 2 * (uint64_t)WORD, .rbp = rbp };
	return true;
}
