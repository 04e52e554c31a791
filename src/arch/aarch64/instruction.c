#include "arch/instruction.h"

#include <string.h>

enum { BYTES = 4 };

/* Sets the target of a branch from `bits` bits of the instruction, which count instructions. */
static void lead_to(struct instruction *instruction, enum instruction_flow flow, uint64_t address, uint32_t offset,
		    unsigned bits)
{
	uint32_t sign = UINT32_C(1) << (bits - 1);
	int64_t distance = (int64_t)((offset & (2 * sign - 1)) ^ sign) - (int64_t)sign;
	instruction->flow = (uint8_t)flow;
	instruction->has_target = true;
	instruction->target = address + (uint64_t)(distance * BYTES);
}

bool instruction_decode(const uint8_t *code, size_t left, uint64_t address, struct instruction *instruction)
{
	enum { FAR_BITS = 26, NEAR_BITS = 19, BIT_TEST_BITS = 14, OFFSET_SHIFT = 5 };
	uint32_t word;
	*instruction = (struct instruction){ .bytes = BYTES, .flow = INSTRUCTION_NEXT };
	if (left < BYTES)
		return false;
	memcpy(&word, code, sizeof(word));
	if ((word & 0xfc000000) == 0x94000000) /* bl */
		lead_to(instruction, INSTRUCTION_CALL, address, word, FAR_BITS);
	else if ((word & 0xfc000000) == 0x14000000) /* b */
		lead_to(instruction, INSTRUCTION_JUMP, address, word, FAR_BITS);
	else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) /* b.cond; cbz, cbnz */
		lead_to(instruction, INSTRUCTION_BRANCH, address, word >> OFFSET_SHIFT, NEAR_BITS);
	else if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		lead_to(instruction, INSTRUCTION_BRANCH, address, word >> OFFSET_SHIFT, BIT_TEST_BITS);
	else if ((word & 0xfefff000) == 0xd63f0000) /* blr, blraa... */
		instruction->flow = INSTRUCTION_CALL;
	else if ((word & 0xfefff000) == 0xd61f0000) /* br, braa... */
		instruction->flow = INSTRUCTION_INDIRECT;
	else if ((word & 0xfffff000) == 0xd65f0000 || (word & 0xffe0001f) == 0xd4200000 || (word >> 16) == 0)
		instruction->flow = INSTRUCTION_END; /* ret, retaa...; brk; udf */
	instruction->is_padding = word == 0xd503201f || (word & 0xffe0001f) == 0xd4200000 || (word >> 16) == 0;
	return true;
}
