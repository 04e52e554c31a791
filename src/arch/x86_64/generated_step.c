/* Unwinds one step from code that a run-time compiler generated: decodes the code from the pc on. If the code returns, or begins to make
 * its frame, before it removes a frame, the function has no frame at the pc. The changes of the stack pointer up to the return then give
 * the position of the return address. */
#include <string.h>

#include "arch/arch.h"
#include "arch/instruction.h"

/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
const struct arch_trampoline arch_trampoline = { "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3", 11 };

enum { WORD = 8, WINDOW_BYTES = 160, INSTRUCTIONS_MOST = 32 };

/* The code from a pc on, and the effect of the instructions passed so far on the stack pointer. */
struct scan {
	uint8_t code[WINDOW_BYTES];
	size_t size;
	int64_t offset;   /* of the stack pointer to that at the pc, in bytes */
	bool restores_fp; /* rbp was popped */
	int64_t fp_at;    /* from there: offset to the stack pointer at the pc */
};

enum verdict { GOES_ON, HAS_FRAME, RETURNS, JUST_PUSHED };

static void read_window(const struct arch_memory *code, uint64_t pc, struct scan *scan)
{
	uint64_t word;
	scan->size = 0;
	while (scan->size + sizeof(word) <= sizeof(scan->code) &&
	       code->read(code->context, pc + scan->size, &word) == 0) {
		memcpy(scan->code + scan->size, &word, sizeof(word));
		scan->size += sizeof(word);
	}
}

static bool begins(const uint8_t *code, size_t left, const char *bytes, size_t count)
{
	return left >= count && memcmp(code, bytes, count) == 0;
}

/* Adds or subtracts a constant. Returns whether the instruction is such a one. */
static bool moves_stack(const uint8_t *code, size_t left, int64_t *offset)
{
	enum { LONG_BYTES = 7 };
	int32_t amount;
	if (begins(code, left, "\x48\x83\xc4", 3) && left > 3)
		*offset += (int8_t)code[3];
	else if (begins(code, left, "\x48\x83\xec", 3) && left > 3)
		*offset -= (int8_t)code[3];
	else if (begins(code, left, "\x48\x81\xc4", 3) && left >= LONG_BYTES)
		*offset += (memcpy(&amount, code + 3, sizeof(amount)), amount);
	else if (begins(code, left, "\x48\x81\xec", 3) && left >= LONG_BYTES)
		*offset -= (memcpy(&amount, code + 3, sizeof(amount)), amount);
	else
		return false;
	return true;
}

/* Returns the register of a push (50) or pop (58), or -1. */
static int register_of(const uint8_t *code, size_t left, uint8_t opcode)
{
	enum { REX_B = 0x41, REGISTERS = 8 };
	size_t at = left > 1 && code[0] == REX_B;
	if (left <= at || code[at] < opcode || code[at] >= opcode + REGISTERS)
		return -1;
	return code[at] - opcode + (at ? REGISTERS : 0);
}

/* Follows one instruction; `is_first`: it is the instruction at the pc. */
static enum verdict follow(struct scan *scan, size_t at, bool is_first, const struct instruction *instruction)
{
	enum { PUSH = 0x50, POP = 0x58, RBP = 5, LEAVE = 0xc9, RETURN = 0xc3, RETURN_MORE = 0xc2 };
	const uint8_t *code = scan->code + at;
	size_t left = scan->size - at;
	if (begins(code, left, "\x48\x89\xe5", 3) || begins(code, left, "\x48\x8b\xec", 3)) /* mov %rsp, %rbp */
		return is_first ? JUST_PUSHED : HAS_FRAME;
	if (code[0] == LEAVE || begins(code, left, "\x48\x89\xec", 3) || begins(code, left, "\x48\x8b\xe5", 3))
		return HAS_FRAME;
	if (register_of(code, left, PUSH) == RBP)
		return scan->offset == 0 ? RETURNS : HAS_FRAME; /* it makes its frame now */
	if (register_of(code, left, POP) == RBP) {
		scan->restores_fp = true;
		scan->fp_at = scan->offset;
	}
	if (register_of(code, left, PUSH) >= 0)
		scan->offset -= WORD;
	else if (register_of(code, left, POP) >= 0)
		scan->offset += WORD;
	else
		moves_stack(code, left, &scan->offset);
	if (code[0] == RETURN || code[0] == RETURN_MORE || instruction->flow == INSTRUCTION_INDIRECT)
		return RETURNS;
	return instruction->flow == INSTRUCTION_CALL || instruction->flow == INSTRUCTION_END ? HAS_FRAME : GOES_ON;
}

/* Takes the branches that go on, because the code of calls and of slow cases is elsewhere.
 * Follows one jump that leads back or far away: a call in tail position, whose function makes
 * its frame then. A second one is a loop. */
static enum verdict scan_from(struct scan *scan, const struct arch_memory *code, uint64_t pc)
{
	size_t at = 0;
	bool has_left = false;
	for (int i = 0; i < INSTRUCTIONS_MOST; i++) {
		struct instruction instruction;
		if (at >= scan->size || !instruction_decode(scan->code + at, scan->size - at, pc + at, &instruction))
			return HAS_FRAME;
		enum verdict verdict = follow(scan, at, i == 0, &instruction);
		if (verdict != GOES_ON)
			return verdict;
		at += instruction.bytes;
		if (instruction.flow == INSTRUCTION_JUMP) {
			uint64_t target = instruction.target - pc;
			if (target >= at && target < scan->size) {
				at = (size_t)target;
				continue;
			}
			if (has_left)
				return HAS_FRAME;
			has_left = true;
			at = 0;
			pc = instruction.target;
			read_window(code, pc, scan);
		}
	}
	return HAS_FRAME;
}

bool arch_generated_step(const struct arch_memory *code, const struct arch_memory *memory, struct arch_frame *frame)
{
	struct scan scan = { 0 };
	read_window(code, frame->pc, &scan);
	enum verdict verdict = scan_from(&scan, code, frame->pc);
	if (verdict == HAS_FRAME)
		return false;
	if (verdict == JUST_PUSHED) {
		scan.restores_fp = true;
		scan.offset = WORD;
	}
	struct arch_frame caller = *frame;
	uint64_t at = frame->sp + (uint64_t)scan.offset;
	if (scan.offset < 0 || memory->read(memory->context, at, &caller.pc) != 0 ||
	    (scan.restores_fp && memory->read(memory->context, frame->sp + (uint64_t)scan.fp_at, &caller.fp) != 0))
		return false;
	caller.sp = at + WORD;
	*frame = caller;
	return true;
}
