/* The unwind table of a tiny ELF file (tiny_elf.h), and its rows as text. */
#ifndef TESTS_TINY_TABLE_H
#define TESTS_TINY_TABLE_H

#include "support/tiny_elf.h"
#include "unwind/unwind.h"

/* Bytes, and how many they are: two arguments. */
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* The arguments are as for tiny_elf. The test fails if there is no table. */
struct unwind_table *tiny_table(const struct buffer *eh_frame, const struct buffer *debug_frame, bool has_sections);

/* "1000 sp+8; 1001 sp+16 fp-16; 1040 none", valid until the next call. The part about fp is
 * the processor's (processor/tests.h). */
const char *tiny_rows_text(const struct unwind_table *table);

/* The rows that instructions become. They belong to one function, behind a CIE's. */
struct tiny_rows {
	const char *name;
	const char *augmentation;
	uint8_t instructions[40];
	size_t size;
	const char *rows; /* as tiny_rows_text writes them */
};

#define TINY_ROWS(name, augmentation, rows, ...)                                                    \
	{                                                                                           \
		name, augmentation, { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), rows \
	}

enum { TINY_FUNCTION = TINY_BASE + 0x1000, TINY_FUNCTION_BYTES = 0x40 };

/* Checks the rows, with section headers and without; the CIE has these instructions. */
void tiny_rows_check(const struct tiny_rows *expected, const void *cie_instructions, size_t cie_size);

#endif
