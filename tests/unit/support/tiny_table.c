#include "tiny_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "processor/tests.h"

struct unwind_table *tiny_table(const struct buffer *eh_frame, const struct buffer *debug_frame, bool has_sections)
{
	struct buffer bytes;
	buffer_init(&bytes);
	tiny_elf(&bytes, eh_frame, debug_frame, has_sections);
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	assert_non_null(file);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	elf_file_free(file);
	buffer_release(&bytes);
	return table;
}

const char *tiny_rows_text(const struct unwind_table *table)
{
	static const char *const kinds[UNWIND_KINDS] = { "none",   "sp",        "fp",      "deref",  "plt",
							 "signal", "end",       "slow",    "switch", "frame",
							 "lisp",   "goroutine", "growing", "clock" };
	static char text[1024];
	size_t used = 0;
	text[0] = 0;
	for (uint32_t i = 0; i < table->row_count && used < sizeof(text) - 64; i++) {
		const struct unwind_row *row = &table->rows[i];
		const char *kind = row->kind < UNWIND_KINDS ? kinds[row->kind] : "?";
		used += (size_t)snprintf(text + used, 32, "%s%x %s", i ? "; " : "", row->pc, kind);
		if (row->cfa || row->kind == UNWIND_SP || row->kind == UNWIND_FP)
			used += (size_t)snprintf(text + used, 16, "%+d", 8 * row->cfa);
		used += (size_t)test_fp_text(row, text + used, 16);
	}
	return text;
}

void tiny_rows_check(const struct tiny_rows *expected, const void *cie_instructions, size_t cie_size)
{
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, expected->augmentation, cie_instructions, cie_size);
	tiny_fde(&section, true, cie, TINY_FUNCTION, TINY_FUNCTION_BYTES, expected->instructions, expected->size);
	struct unwind_table *table = tiny_table(&section, NULL, true);
	if (strcmp(tiny_rows_text(table), expected->rows) != 0)
		fail_msg("%s: %s, not %s", expected->name, tiny_rows_text(table), expected->rows);
	unwind_table_free(table);
	/* Stripped: by PT_GNU_EH_FRAME and the terminator. */
	buffer_append(&section, "\0\0\0\0garbage", 11);
	table = tiny_table(&section, NULL, false);
	assert_string_equal(tiny_rows_text(table), expected->rows);
	unwind_table_free(table);
	buffer_release(&section);
}
