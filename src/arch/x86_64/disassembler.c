#include "arch/disassembler.h"

#include <elf.h>

static bool target(const cs_insn *instruction, uint64_t *target)
{
	const cs_x86 *detail = &instruction->detail->x86;
	if (detail->op_count == 0 || detail->operands[detail->op_count - 1].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)detail->operands[detail->op_count - 1].imm;
	return true;
}

extern const struct arch_disassembler disassembler_x86_64;
const struct arch_disassembler disassembler_x86_64 = {
	.machine = EM_X86_64,
	.architecture = CS_ARCH_X86,
	.mode = CS_MODE_64,
	.target = target,
};
