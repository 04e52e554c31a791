#include "arch/disassembler.h"

#include <stddef.h>

#define X(name) extern const struct arch_disassembler disassembler_##name;
ARCH_DISASSEMBLERS
#undef X

const struct arch_disassembler *arch_disassembler(uint16_t machine)
{
#define X(name) &disassembler_##name,
	static const struct arch_disassembler *const rows[] = { ARCH_DISASSEMBLERS };
#undef X
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i]->machine == machine)
			return rows[i];
	return NULL;
}
