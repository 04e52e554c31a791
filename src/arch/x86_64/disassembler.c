#include "arch/disassembler.h"

#include <elf.h>

#include "arch/x86_64/instruction_form.h"

static bool target(const cs_insn *instruction, uint64_t *target)
{
	const cs_x86 *detail = &instruction->detail->x86;
	if (detail->op_count == 0 || detail->operands[detail->op_count - 1].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)detail->operands[detail->op_count - 1].imm;
	return true;
}

static size_t length(const uint8_t *code, size_t left)
{
	struct instruction_form form;
	return instruction_form_read(&form, code, left, 0) ? form.at : 1;
}

extern const struct arch_disassembler disassembler_x86_64;
const struct arch_disassembler disassembler_x86_64 = {
	.machine = EM_X86_64,
	.architecture = CS_ARCH_X86,
	.mode = CS_MODE_64,
	.target = target,
	.length = length,
};
