/*
 * The registers that we request from perf, and the position of each in a sample. The kernel numbers them in
 * asm/perf_regs.h and writes the registers of the mask in rising order; the unwinder uses DWARF's numbers.
 */
#ifndef ARCH_X86_64_PROCESSOR_PERF_REGISTERS_H
#define ARCH_X86_64_PROCESSOR_PERF_REGISTERS_H

#include <asm/perf_regs.h>
#include <stdint.h>

#define BIT(n) (UINT64_C(1) << (n))
/* All general registers and rip, without flags and segments: ax to ip, r8 to r15. */
static const uint64_t PERF_REGISTER_MASK =
	(BIT(PERF_REG_X86_IP + 1) - BIT(PERF_REG_X86_AX)) | (BIT(PERF_REG_X86_R15 + 1) - BIT(PERF_REG_X86_R8));
#undef BIT

/* The DWARF number of the n-th register in a sample. */
static const uint8_t PERF_REGISTER_DWARF[] = {
	0 /* ax */, 3 /* bx */, 2 /* cx */, 1 /* dx */, 4 /* si */, 5 /* di */, 6 /* bp */, 7 /* sp */, 16 /* ip */,
	8 /* r8 */, 9,          10,         11,         12,         13,         14,         15,
};

enum { PERF_REGISTER_COUNT = sizeof(PERF_REGISTER_DWARF) / sizeof(PERF_REGISTER_DWARF[0]) };

#endif
