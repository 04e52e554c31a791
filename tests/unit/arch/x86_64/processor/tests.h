/* The words in which the tests that are the same for every processor name this processor's registers and code. */
#ifndef TESTS_X86_64_PROCESSOR_TESTS_H
#define TESTS_X86_64_PROCESSOR_TESTS_H

#include <stdio.h>

#include "abi/unwind_row.h"

/* The column of the return address in call frame information. */
enum { TEST_RETURN_COLUMN = 16 };

/* Call frame instructions, 5 bytes: CFA = rsp + 8, and the return address where a call puts it. */
#define TEST_FIRST_RULES 0x0c, 7, 8, 0x90, 1

/* getpid by the kernel's other ABI with 64-bit registers, x32. */
#define TEST_OTHER_ABI_CALL (0x40000000 | 39)

/* Writes what a row says about rbp, for example " fp-16"; nothing if rbp is unchanged. */
static inline int test_fp_text(const struct unwind_row *row, char *text, size_t bytes)
{
	if (row->kind == UNWIND_PLT)
		return snprintf(text, bytes, ">=%d", row->fp);
	return row->fp ? snprintf(text, bytes, " fp%+d", 8 * row->fp) : 0;
}

#endif
