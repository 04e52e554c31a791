#include "arch/disassembler.h"

#include <elf.h>

static bool target(const cs_insn *instruction, uint64_t *target)
{
	const cs_arm64 *detail = &instruction->detail->arm64;
	if (detail->op_count == 0 || detail->operands[detail->op_count - 1].type != ARM64_OP_IMM)
		return false;
	*target = (uint64_t)detail->operands[detail->op_count - 1].imm;
	return true;
}

static size_t length(const uint8_t *code, size_t left)
{
	(void)code;
	return left < sizeof(uint32_t) ? left : sizeof(uint32_t);
}

extern const struct arch_disassembler disassembler_aarch64;
const struct arch_disassembler disassembler_aarch64 = {
	.machine = EM_AARCH64,
	.architecture = CS_ARCH_ARM64,
	.mode = CS_MODE_LITTLE_ENDIAN,
	.target = target,
	.length = length,
};
