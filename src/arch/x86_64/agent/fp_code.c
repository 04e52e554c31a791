/* Classifies instructions for the counting of floating point exceptions, by their opcodes. */
#include "processor/agent/fp_code.h"

enum { REGISTERS = 0xc0, REG_SHIFT = 3, REG_MASK = 7 };

/* fldenv (D9 /4) and frstor (DD /4). */
bool fp_loads_legacy_flags(const uint8_t *at)
{
	enum { REX = 0x40, REX_MASK = 0xf0, LOAD = 4 };
	while ((*at & REX_MASK) == REX || *at == 0x66 || *at == 0x67 || *at == 0x64 || *at == 0x65 || *at == 0x2e)
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
	const uint8_t *code = bytes, *end = bytes + 8;
	while (code < end && (*code == 0x66 || *code == 0x67 || *code == 0xf2 || *code == 0xf3 || *code == 0x2e ||
			      *code == 0x3e || *code == 0x64 || *code == 0x65 || (*code & 0xf0) == 0x40))
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
	if ((*code == 0xc5 && code[2] == 0xae) || (*code == 0xc4 && code[3] == 0xae)) /* vldmxcsr, vstmxcsr */
		return FP_NEXT_STOPS;
	return FP_NEXT_OTHER;
}
