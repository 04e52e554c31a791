/* The words in which the tests that are the same for every processor name this processor's registers and code. */
#ifndef TESTS_AARCH64_PROCESSOR_TESTS_H
#define TESTS_AARCH64_PROCESSOR_TESTS_H

#include <stdio.h>

#include "abi/unwind_row.h"

/* The column of the return address in call frame information: x30. */
enum { TEST_RETURN_COLUMN = 30 };

/* Call frame instructions, 5 bytes: CFA = sp + 8, and the return address where a call puts it, in x30. */
#define TEST_FIRST_RULES 0x0c, 31, 8, 0, 0

/* Writes where a row has the frame record, for example " record+16"; nothing if there is none. */
static inline int test_fp_text(const struct unwind_row *row, char *text, size_t bytes)
{
	if (row->kind != UNWIND_SP && row->kind != UNWIND_FP)
		return 0;
	return row->fp >= 0 ? snprintf(text, bytes, " record%+d", 8 * row->fp) : 0;
}

#endif
