/* Classifies instructions for the counting of floating point exceptions, by their opcodes. */
#include "processor/agent/fp_code.h"

enum { REGISTERS = 0xc0, REG_SHIFT = 3, REG_MASK = 7 };

/* Returns whether an instruction that runs can have this prefix before its opcode: operand and
 * address size, repetition, segments (es, cs, ss and ds are ignored in 64-bit code, but
 * allowed), and REX. LOCK is allowed with none of the instructions below. */
static bool is_prefix(uint8_t byte)
{
	enum { REX = 0x40, REX_MASK = 0xf0 };
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x26 || byte == 0x2e ||
	       byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65 || (byte & REX_MASK) == REX;
}

/* fldenv (D9 /4) and frstor (DD /4). */
bool fp_loads_legacy_flags(const uint8_t *at)
{
	enum { LOAD = 4 };
	while (is_prefix(*at))
		at++;
	return (*at == 0xd9 || *at == 0xdd) && at[1] < REGISTERS && (at[1] >> REG_SHIFT & REG_MASK) == LOAD;
}
