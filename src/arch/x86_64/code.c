/* Recognizes code that the compilers, linkers and C libraries of this processor generate. */
#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/instruction.h"
#include "processor/thread_end.h"

const uint32_t arch_chosen_relocation = R_X86_64_IRELATIVE;
const uint32_t arch_relative_relocation = R_X86_64_RELATIVE;

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

enum arch_call arch_call_in(const uint8_t code[ARCH_CALL_BYTES], uint64_t return_address, uint64_t *target)
{
	/*
	 * A call is
	 *   e8 rel32                            5 bytes
	 *   [prefix] ff /2 [sib] [disp8|disp32] 2 to 8 bytes
	 * The middle three bits of ModRM are 2. Its upper two bits, its lower three bits and the SIB byte determine
	 * how many bytes follow.
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

bool arch_is_stub(const uint8_t *code, size_t size)
{
	size_t at = size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	at += at < size && code[at] == 0xf2; /* bnd */
	return at + 1 < size && code[at] == 0xff && code[at + 1] == 0x25;
}

bool arch_ends_in_system_call(const uint8_t code[ARCH_SYSTEM_CALL_BYTES])
{
	return code[0] == 0x0f && code[1] == 0x05;
}

/* Stubs are 16 bytes. Stubs of .plt.got are 8, unless they begin with endbr64. */
size_t arch_plt_stub(const char *section, const uint8_t *code, size_t code_size, size_t offset, size_t *size)
{
	enum { STUB_BYTES = 16, SHORT_STUB_BYTES = 8 };
	bool is_long = strcmp(section, ".plt.got") != 0 ||
		       (code_size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0);
	*size = is_long ? STUB_BYTES : SHORT_STUB_BYTES;
	return offset / *size * *size;
}

/*
 * A stub, after an optional endbr64 and bnd prefix, is either
 *	ff 25 disp32   jmp *slot(%rip)
 * or, if the jump is in .plt.sec,
 *	68 imm32       push $index of its relocation
 */
struct arch_plt_jump arch_plt_jump(const uint8_t *stub, size_t size, uint64_t address)
{
	for (size_t at = 0; at + 6 <= size; at++) {
		uint32_t operand;
		if (stub[at] == 0xff && stub[at + 1] == 0x25) {
			memcpy(&operand, stub + at + 2, sizeof(operand));
			return (struct arch_plt_jump){ .kind = ARCH_PLT_SLOT,
						       .slot = address + at + 6 + (uint64_t)(int64_t)(int32_t)operand };
		}
		if (stub[at] == 0x68 && (at == 0 || at == 4)) {
			memcpy(&operand, stub + at + 1, sizeof(operand));
			return (struct arch_plt_jump){ .kind = ARCH_PLT_INDEX, .index = operand };
		}
	}
	return (struct arch_plt_jump){ .kind = ARCH_PLT_UNKNOWN };
}

/*
 * _start passes the address of main to __libc_start_main in rdi:
 *
 *	48 8d 3d disp32    lea main(%rip), %rdi     position independent
 *	48 c7 c7 imm32     mov $main, %rdi          position dependent
 */
uint64_t arch_main_of_start(const uint8_t *code, size_t size, uint64_t address, uint64_t low, uint64_t high)
{
	enum { START_BYTES = 48, INSTRUCTION_BYTES = 7 };
	for (size_t at = 0; at + INSTRUCTION_BYTES <= size && at < START_BYTES; at++) {
		const uint8_t *bytes = code + at;
		int32_t operand;
		memcpy(&operand, bytes + 3, sizeof(operand));
		uint64_t target = 0;
		if (bytes[0] == 0x48 && bytes[1] == 0x8d && bytes[2] == 0x3d)
			target = address + at + INSTRUCTION_BYTES + (uint64_t)(int64_t)operand;
		else if (bytes[0] == 0x48 && bytes[1] == 0xc7 && bytes[2] == 0xc7)
			target = (uint32_t)operand;
		if (target >= low && target < high && target != 0)
			return target;
	}
	return 0;
}

bool arch_ends_thread(const uint8_t code[ARCH_THREAD_END_BYTES])
{
	uint64_t first;
	uint16_t next;
	memcpy(&first, code, sizeof(first));
	memcpy(&next, code + sizeof(first), sizeof(next));
	return code_ends_thread(first, next);
}

/* With a prefix of VEX or EVEX, as the functions for AVX begin: loads, broadcasts and vpxor. */
size_t arch_vector_instruction(const uint8_t *code, size_t left)
{
	enum { VEX2 = 0xc5, VEX3 = 0xc4, EVEX = 0x62, MAP_BITS = 7, MAP_0F = 1, MAP_0F38 = 2 };
	static const uint8_t of_0f[] = { 0x10, 0x28, 0x57, 0x6e, 0x6f, 0xef };
	static const uint8_t of_0f38[] = { 0x18, 0x58, 0x59, 0x78, 0x79, 0x7a, 0x7b, 0x7c };
	struct instruction instruction;
	size_t prefix = left == 0 ? 0 : code[0] == VEX2 ? 2 : code[0] == VEX3 ? 3 : code[0] == EVEX ? 4 : 0;
	if (!prefix || prefix >= left || !instruction_decode(code, left, 0, &instruction))
		return 0;
	unsigned map = prefix == 2 ? MAP_0F : code[1] & MAP_BITS;
	bool is_known = map == MAP_0F     ? memchr(of_0f, code[prefix], sizeof(of_0f)) != NULL
			: map == MAP_0F38 ? memchr(of_0f38, code[prefix], sizeof(of_0f38)) != NULL
					  : false;
	return is_known ? instruction.bytes : 0;
}

/*
 * gcc's hook is called without an argument, clang's with the address of the block's number:
 *
 *	f3 0f 1e fa         endbr64                48 8d 3d disp32     lea guards(%rip), %rdi
 *	e8 disp32           call hook              48 83 c7 imm8       add $4, %rdi
 *	ff 15 disp32        call *hook(%rip)       48 81 c7 imm32      add $400, %rdi
 *	67 e8 disp32        addr32 call hook       bf imm32            mov $guard, %edi
 */
size_t arch_hook_instruction(const uint8_t *code, size_t left)
{
	static const struct {
		uint8_t bytes[4], count, operand;
	} known[] = {
		{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0 },
		{ { 0xe8 }, 1, 4 },
		{ { 0xff, 0x15 }, 2, 4 },
		{ { 0x67, 0xe8 }, 2, 4 },
		{ { 0x48, 0x8d, 0x3d }, 3, 4 },
		{ { 0x48, 0x83, 0xc7 }, 3, 1 },
		{ { 0x48, 0x81, 0xc7 }, 3, 4 },
		{ { 0xbf }, 1, 4 },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = known[i].count + known[i].operand;
		if (length <= left && memcmp(code, known[i].bytes, known[i].count) == 0)
			return length;
	}
	return 0;
}
