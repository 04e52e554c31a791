/* Steps of a walk in user space: by a row, by a ucontext, and without a rule. */
#include <string.h>

#include "arch/arch.h"

/* The memory, and the address that was not readable. */
struct reading {
	const struct arch_memory *memory;
	uint64_t unreadable;
};

static inline bool row_read(void *memory, uint64_t address, uint64_t *value)
{
	struct reading *reading = memory;
	if (reading->memory->read(reading->memory->context, address, value) == 0)
		return true;
	reading->unreadable = address;
	return false;
}

static inline bool row_read_beside(void *memory, uint64_t address, uint64_t *value)
{
	return row_read(memory, address, value);
}

static inline bool row_read_goroutine(void *memory, int64_t offset, uint64_t *goroutine)
{
	const struct reading *reading = memory;
	(void)offset; /* the thread pointer is not known here */
	*goroutine = reading->memory->goroutine;
	return *goroutine != 0;
}

#include "processor/lisp_row.h"
#include "processor/row_step.h"

enum { WORD = 8 };

bool arch_step(const struct unwind_row *row, const struct arch_memory *memory, struct arch_frame *frame,
	       uint64_t *unreadable)
{
	struct reading reading = { .memory = memory };
	if (row_step(row, &reading, frame))
		return true;
	*unreadable = reading.unreadable;
	return false;
}

bool arch_lisp_row(const struct arch_memory *memory, enum unwind_from from, struct arch_frame *frame,
		   struct unwind_row *row, uint64_t *unreadable)
{
	struct reading reading = { .memory = memory };
	if (lisp_row(&reading, from, frame, row))
		return true;
	*unreadable = reading.unreadable;
	return false;
}

bool arch_read_ucontext(const struct arch_memory *memory, uint64_t address, struct arch_registers *registers,
			uint64_t *unreadable)
{
	/* By DWARF's numbers. */
	static const uint8_t offsets[ARCH_REGISTERS] = {
		144, 136, 152, 128, 112, 104, UCONTEXT_RBP, UCONTEXT_RSP, 40, 48, 56, 64, 72, 80, 88, 96, UCONTEXT_RIP,
	};
	struct arch_registers all;
	struct reading reading = { .memory = memory };
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		if (!row_read(&reading, address + offsets[i], &all.value[i])) {
			*unreadable = reading.unreadable;
			return false;
		}
	*registers = all;
	return true;
}

/* --- without a rule --- */

bool arch_is_sigreturn(const struct arch_memory *memory, uint64_t pc)
{
	/* mov $15,%rax or mov $15,%eax, then syscall. The pc may be at either. */
	enum { SYSCALL = 0x050f, LONG_MOV_BYTES = 7, SHORT_MOV_BYTES = 5 };
	const uint64_t long_mov = UINT64_C(0x0f0000000fc0c748);
	const uint64_t short_mov = UINT64_C(0x050f0000000fb8);
	const uint64_t short_mask = UINT64_C(0xffffffffffffff);
	uint64_t code;
	uint64_t next;
	if (memory->read(memory->context, pc, &code) != 0)
		return false;
	if (code == long_mov)
		return memory->read(memory->context, pc + LONG_MOV_BYTES, &next) == 0 && (next & 0xffff) == SYSCALL;
	if ((code & short_mask) == short_mov)
		return true;
	if ((code & 0xffff) != SYSCALL)
		return false;
	return (memory->read(memory->context, pc - LONG_MOV_BYTES, &code) == 0 && code == long_mov) ||
	       (memory->read(memory->context, pc - SHORT_MOV_BYTES, &code) == 0 && (code & short_mask) == short_mov);
}

/*
 * The C libraries end their unwind information before this system call:
 *	b8 b3 01 00 00   mov $435, %eax    clone3; or 56: clone
 *	0f 05            syscall           rax is 0 in the new thread
 *	48 85 c0         test %rax, %rax
 *	7c xx            jl failed         or 0f 8c xx xx xx xx
 *	74 xx            je thread
 */
bool arch_begins_thread(const struct arch_memory *memory, const struct arch_registers *registers)
{
	enum { RAX = 0, MOV_BYTES = 5, CLONE3 = 435, CLONE = 56 };
	static const uint8_t after_start_of_call[] = { 0, 2, 5, 7, 11 };
	const uint64_t mask = UINT64_C(0xffffffffffffff), mov = 0xb8, system_call = UINT64_C(0x050f) << 40;
	if (registers->value[RAX] != 0)
		return false;
	for (size_t i = 0; i < sizeof(after_start_of_call); i++) {
		uint64_t code;
		uint64_t at = registers->value[ARCH_PC_REGISTER] - after_start_of_call[i] - MOV_BYTES;
		if (memory->read(memory->context, at, &code) == 0 &&
		    ((code & mask) == (system_call | CLONE3 << 8 | mov) ||
		     (code & mask) == (system_call | CLONE << 8 | mov)))
			return true;
	}
	return false;
}

/* The word at rsp, or the next one, above a slot for alignment. */
bool arch_guess_return(const struct arch_memory *memory, unsigned n, struct arch_frame *caller)
{
	uint64_t at = caller->sp + n * (uint64_t)WORD;
	if (memory->read(memory->context, at, &caller->pc) != 0)
		return false;
	caller->sp = at + WORD;
	return true;
}

enum arch_call arch_call_before(const struct arch_memory *memory, uint64_t return_address, uint64_t *target)
{
	uint64_t word;
	uint8_t code[ARCH_CALL_BYTES];
	*target = 0;
	if (return_address < ARCH_CALL_BYTES ||
	    memory->read(memory->context, return_address - ARCH_CALL_BYTES, &word) != 0)
		return ARCH_CALL_UNKNOWN;
	memcpy(code, &word, sizeof(code));
	return arch_call_in(code, return_address, target);
}

bool arch_frame_pointer_step(const struct arch_memory *memory, struct arch_frame *frame)
{
	uint64_t rbp;
	uint64_t rip;
	uint64_t at = frame->fp;
	if (at < frame->sp || at % WORD != 0 || at > UINT64_MAX - 2 * (uint64_t)WORD)
		return false;
	if (memory->read(memory->context, at, &rbp) != 0 || memory->read(memory->context, at + WORD, &rip) != 0)
		return false;
	*frame = (struct arch_frame){ .pc = rip, .sp = at + 2 * (uint64_t)WORD, .fp = rbp };
	return true;
}
