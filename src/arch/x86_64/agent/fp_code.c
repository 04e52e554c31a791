/* Classifies instructions for the counting of floating point exceptions, by their opcodes. */
#include "processor/agent/fp_code.h"

enum { REGISTERS = 0xc0, REG_SHIFT = 3, REG_MASK = 7 };

/* An instruction has at most 15 bytes. */
enum { PREFIXES_MAX = 14 };
_Static_assert(PREFIXES_MAX + 2 <= FP_CODE_BYTES, "two bytes of the opcode can be read after the most prefixes");

/* Returns whether an instruction that runs can have this prefix before its opcode: operand and address size, repetition, segments
 * (es, cs, ss and ds are ignored in 64-bit code, but allowed), and REX. LOCK is allowed with none of the instructions below. */
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

/* Control instructions load, store or clear the flags or masks and must not be stepped: D9 /4 to /7, DD /4, /6 and
 * /7 in memory, DB E0 to E7, DF E0. */
static enum fp_next next_x87(const uint8_t *code)
{
	enum { CONTROLS = 4 };
	uint8_t reg = code[1] >> REG_SHIFT & REG_MASK;
	bool is_control = code[1] < REGISTERS
				  ? (*code == 0xd9 || *code == 0xdd) && reg >= CONTROLS
				  : (*code == 0xdb && reg == CONTROLS) || (*code == 0xdf && reg == CONTROLS);
	return is_control ? FP_NEXT_STOPS : FP_NEXT_LEGACY;
}

enum fp_next fp_next_instruction(const uint8_t bytes[FP_CODE_BYTES])
{
	enum { VEX_MAX = 11 }; /* the instructions with this prefix have four more bytes at least */
	const uint8_t *code = bytes, *end = bytes + PREFIXES_MAX;
	while (code < end && is_prefix(*code))
		code++;
	if ((*code & 0xf8) == 0xd8)
		return next_x87(code);
	/* fwait, pushf, popf, interrupts and their returns; hlt and the like */
	if ((*code >= 0x9b && *code <= 0x9d) || (*code >= 0xcc && *code <= 0xcf) || *code == 0xf4)
		return FP_NEXT_STOPS;
	if (*code == 0x0f) /* system calls, ud2; fxsave, ldmxcsr, xsave and so on; xgetbv, xsavec */
		return code[1] == 0x05 || code[1] == 0x34 || code[1] == 0x0b || code[1] == 0xae || code[1] == 0x01 ||
				       code[1] == 0xc7
			       ? FP_NEXT_STOPS
			       : FP_NEXT_OTHER;
	if (code <= bytes + VEX_MAX && ((*code == 0xc5 && code[2] == 0xae) || (*code == 0xc4 && code[3] == 0xae)))
		return FP_NEXT_STOPS; /* vldmxcsr, vstmxcsr */
	return FP_NEXT_OTHER;
}
