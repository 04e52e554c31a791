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

#include "processor/row_step.h"

uint64_t arch_code_address(uint64_t value)
{
	return row_code_address(value);
}

bool arch_step(const struct unwind_row *row, const struct arch_memory *memory, struct arch_frame *frame,
	       uint64_t *unreadable)
{
	struct reading reading = { .memory = memory };
	if (row_step(row, &reading, frame))
		return true;
	*unreadable = reading.unreadable;
	return false;
}

bool arch_begins_thread(const struct arch_memory *memory, const struct arch_registers *registers)
{
	(void)memory;
	(void)registers;
	return false;
}

bool arch_lisp_row(const struct arch_memory *memory, enum unwind_from from, struct arch_frame *frame,
		   struct unwind_row *row, uint64_t *unreadable)
{
	(void)memory;
	(void)from;
	(void)row;
	*unreadable = frame->pc;
	return false;
}

bool arch_read_ucontext(const struct arch_memory *memory, uint64_t address, struct arch_registers *registers,
			uint64_t *unreadable)
{
	struct arch_registers all;
	struct reading reading = { .memory = memory };
	/* x0 to x30, sp and pc are in the order of DWARF's numbers. */
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		if (!row_read(&reading, address + UCONTEXT_X0 + i * (uint64_t)ROW_WORD, &all.value[i])) {
			*unreadable = reading.unreadable;
			return false;
		}
	*registers = all;
	return true;
}

/* --- code without a rule --- */

/* The pc may be at either of the two instructions. */
bool arch_is_sigreturn(const struct arch_memory *memory, uint64_t pc)
{
	enum { INSTRUCTION_BYTES = 4 };
	uint64_t code;
	return (memory->read(memory->context, pc, &code) == 0 && row_is_sigreturn(code)) ||
	       (memory->read(memory->context, pc - INSTRUCTION_BYTES, &code) == 0 && row_is_sigreturn(code));
}

/* The only guess is the link register. */
bool arch_guess_return(const struct arch_memory *memory, unsigned n, struct arch_frame *caller)
{
	(void)memory;
	(void)n;
	caller->pc = row_code_address(caller->lr);
	return true;
}

const struct arch_trampoline arch_trampoline = { 0 };

bool arch_generated_step(const struct arch_memory *code, const struct arch_memory *memory, struct arch_frame *frame)
{
	(void)code;
	(void)memory;
	(void)frame;
	return false;
}

bool arch_frame_pointer_step(const struct arch_memory *memory, struct arch_frame *frame)
{
	uint64_t fp, pc, at = frame->fp;
	if (at < frame->sp || at % ROW_WORD != 0 || at > UINT64_MAX - 2 * (uint64_t)ROW_WORD)
		return false;
	if (memory->read(memory->context, at, &fp) != 0 || memory->read(memory->context, at + ROW_WORD, &pc) != 0)
		return false;
	pc = row_code_address(pc);
	*frame = (struct arch_frame){ .pc = pc, .sp = at + 2 * (uint64_t)ROW_WORD, .fp = fp, .lr = pc };
	return true;
}

enum arch_call arch_call_before(const struct arch_memory *memory, uint64_t return_address, uint64_t *target)
{
	uint64_t word;
	uint8_t code[sizeof(word)];
	*target = 0;
	if (return_address < sizeof(word) || memory->read(memory->context, return_address - sizeof(word), &word) != 0)
		return ARCH_CALL_UNKNOWN;
	memcpy(code, &word, sizeof(code));
	return arch_call_in(code + sizeof(word) - ARCH_CALL_BYTES, return_address, target);
}
