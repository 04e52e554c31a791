/* Conversion of call frame instructions to unwind rows, with hand-made sections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_fail.h"
#include "support/tiny_elf.h"
#include "unwind/cfi.h"

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* CFA = rsp + 8, return address at CFA - 8: the state at the entry of every function. */
#define USUAL BYTES(0x0c, 7, 8, 0x90, 1)

enum { FUNCTION = TINY_BASE + 0x1000, FUNCTION_BYTES = 0x40 };

static struct unwind_table *table_of(const struct buffer *eh_frame, const struct buffer *debug_frame, bool has_sections)
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

/* Returns the rows as text, "1000 rsp+8; 1001 rsp+16 rbp-16; 1040 none". */
static const char *rows_text(const struct unwind_table *table)
{
	static const char *const kinds[] = { "none", "rsp", "rbp", "deref", "plt", "signal", "end", "slow" };
	static char text[1024];
	size_t used = 0;
	text[0] = 0;
	for (uint32_t i = 0; i < table->row_count && used < sizeof(text) - 64; i++) {
		const struct unwind_row *row = &table->rows[i];
		const char *kind = row->kind < 8 ? kinds[row->kind] : "?";
		used += (size_t)snprintf(text + used, 32, "%s%x %s", i ? "; " : "", row->pc, kind);
		if (row->cfa || row->kind == UNWIND_SP || row->kind == UNWIND_FP)
			used += (size_t)snprintf(text + used, 16, "%+d", 8 * row->cfa);
		if (row->kind == UNWIND_PLT)
			used += (size_t)snprintf(text + used, 16, ">=%d", row->fp);
		else if (row->fp)
			used += (size_t)snprintf(text + used, 16, " rbp%+d", 8 * row->fp);
	}
	return text;
}

struct golden {
	const char *name;
	const char *augmentation;
	uint8_t instructions[40];
	size_t size;
	const char *rows;
};

#define G(name, augmentation, rows, ...)                                                            \
	{                                                                                           \
		name, augmentation, { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), rows \
	}

static const struct golden goldens[] = {
	G("push rbp; mov rbp,rsp; leave", "z",
	  "1000 rsp+8; 1001 rsp+16 rbp-16; 1004 rbp+16 rbp-16; 103f rsp+8; 1040 none", 0x41, 0x0e, 16, 0x86, 2, 0x43,
	  0x0d, 6, 0x02, 0x3b, 0xc6, 0x0c, 7, 8),
	G("advances of 2 and 4 bytes", "z", "1000 rsp+8; 1010 rsp+16; 1030 rsp+24; 1040 none", 0x03, 0x10, 0, 0x0e, 16,
	  0x04, 0x20, 0, 0, 0, 0x0e, 24),
	G("pop rbp, left unsaid", "z", "1000 rsp+8; 1001 rsp+16 rbp-16; 1002 rsp+8; 1003 rsp+16 rbp-16; 1040 none",
	  0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0a, 0x0e, 8, 0x41, 0x0b),
	G("rbp in the red zone", "z", "1000 rsp+8; 1001 rsp+8 rbp-16; 1002 rsp+32 rbp-16; 1003 rsp+8; 1040 none", 0x41,
	  0x86, 2, 0x41, 0x0e, 32, 0x41, 0x0e, 8),
	G("equal neighbours are one row", "z", "1000 rsp+8; 1040 none", 0x42, 0x83, 2, 0x42, 0x8c, 3),
	G("nested remember and restore", "z",
	  "1000 rsp+8; 1001 rsp+16; 1002 rsp+24; 1003 rsp+16; 1004 rsp+8; 1040 none", 0x0a, 0x41, 0x0e, 16, 0x0a, 0x41,
	  0x0e, 24, 0x41, 0x0b, 0x41, 0x0b),
	G("restore brings the CFA back", "z", "1000 rsp+8; 1001 rbp+16 rbp-16; 1002 rsp+8; 1040 none", 0x0a, 0x41, 0x0c,
	  6, 16, 0x86, 2, 0x41, 0x0b),
	G("restore without remember", "z", "1000 rsp+8; 1001 none", 0x41, 0x0b),
	G("what follows damage is unknown", "z", "1000 rsp+8; 1001 rsp+16; 1002 none", 0x41, 0x0e, 16, 0x41, 0x3e),
	G("pushed arguments do not count", "z", "1000 rsp+8; 1040 none", 0x41, 0x2e, 16, 0x41, 0x2e, 0),
	G("signed and factored", "z", "1000 rsp+8; 1001 rbp+32; 1002 rbp+24 rbp-24; 1040 none", 0x41, 0x12, 6, 0x7c,
	  0x41, 0x13, 0x7d, 0x11, 6, 3),
	G("extended and negative offsets", "z", "1000 rsp+8 rbp-24; 1001 rsp+8; 1002 rsp+8 rbp-16; 1040 none", 0x05, 6,
	  3, 0x41, 0x06, 6, 0x41, 0x2f, 6, 0x7e, 0x05, 6, 2),
	G("same value; undefined vector registers", "z", "1000 rsp+8 rbp-16; 1001 rsp+8; 1040 none", 0x86, 2, 0x41,
	  0x08, 6, 0x07, 40),
	G("the outermost frame", "z", "1000 end; 1040 none", 0x07, 16),
	G("rbp is a value", "z", "1000 slow; 1040 none", 0x14, 6, 2),
	G("rbp is in another register", "z", "1000 slow; 1040 none", 0x09, 6, 12),
	G("rbp is at the CFA", "z", "1000 slow; 1040 none", 0x86, 0),
	G("rbp is too far away", "z", "1000 rsp+8 rbp-1024; 1001 slow; 1040 none", 0x86, 0x80, 1, 0x41, 0x86, 0x81, 1),
	G("the CFA is no multiple of 8", "z", "1000 slow; 1040 none", 0x0e, 20),
	G("the CFA is too far away", "z", "1000 rsp+262136; 1001 slow; 1040 none", 0x0e, 0xf8, 0xff, 0x0f, 0x41, 0x0e,
	  0x80, 0x80, 0x10),
	G("the CFA in r10", "z", "1000 slow; 1040 none", 0x0c, 10, 0),
	G("the return address in rax", "z", "1000 slow; 1040 none", 0x09, 16, 0),
	G("the return address elsewhere", "z", "1000 slow; 1040 none", 0x90, 2),
	G("rsp is not the CFA", "z", "1000 slow; 1040 none", 0x16, 7, 2, 0x77, 0),
	G("realigned stack", "z", "1000 slow; 1001 deref-8; 1040 none", 0x0c, 10, 0, 0x41, 0x10, 6, 2, 0x76, 0, 0x0f, 3,
	  0x76, 0x78, 0x06),
	G("realigned, but rbp elsewhere", "z", "1000 slow; 1040 none", 0x10, 6, 2, 0x76, 8, 0x0f, 3, 0x76, 0x78, 0x06),
	G("PLT of 11", "z", "1000 plt+8>=11; 1040 none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
	  0x22),
	G("PLT of 10", "z", "1000 plt+8>=10; 1040 none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24,
	  0x22),
	G("PLT with another shift", "z", "1000 slow; 1040 none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a,
	  0x34, 0x24, 0x22),
	G("PLT that saves rbp", "z", "1000 slow; 1040 none", 0x86, 2, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b,
	  0x2a, 0x33, 0x24, 0x22),
	G("signal frame", "zS", "1000 signal; 1040 none", 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10,
	  16, 3, 0x77, 0xa8, 1),
	G("signal frame below its ucontext", "zS", "1000 signal+8; 1040 none", 0x0f, 4, 0x77, 0xa8, 1, 0x06, 0x10, 6, 3,
	  0x77, 0x80, 1, 0x10, 16, 3, 0x77, 0xb0, 1),
	G("signal frame of another layout", "zS", "1000 slow; 1040 none", 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3,
	  0x77, 0xf0, 0, 0x10, 16, 3, 0x77, 0xa8, 1),
	G("signal frame with an ordinary rule", "zS", "1000 slow; 1040 none", 0x00),
	G("an expression that is cut off", "z", "1000 none", 0x0f, 30, 0x77),
};

static void instructions_become_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		const struct golden *golden = &goldens[i];
		struct buffer section;
		buffer_init(&section);
		size_t cie = tiny_cie(&section, true, golden->augmentation, USUAL);
		tiny_fde(&section, true, cie, FUNCTION, FUNCTION_BYTES, golden->instructions, golden->size);
		struct unwind_table *table = table_of(&section, NULL, true);
		if (strcmp(rows_text(table), golden->rows) != 0)
			fail_msg("%s: %s, not %s", golden->name, rows_text(table), golden->rows);
		unwind_table_free(table);
		/* In a stripped file, PT_GNU_EH_FRAME gives the start of the section, and its terminator the end. */
		buffer_append(&section, "\0\0\0\0garbage", 11);
		table = table_of(&section, NULL, false);
		assert_string_equal(rows_text(table), golden->rows);
		unwind_table_free(table);
		buffer_release(&section);
	}
}

/* --- entries --- */

static void functions_are_sorted_and_cut(void **state)
{
	(void)state;
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, "z", USUAL);
	tiny_fde(&section, true, cie, FUNCTION + 0x100, 0x10, BYTES(0x0e, 16));
	tiny_fde(&section, true, cie, FUNCTION, 0x80, BYTES(0x0e, 24));
	tiny_fde(&section, true, cie, FUNCTION + 0x40, 0x10, BYTES(0x0e, 32));
	tiny_fde(&section, true, cie, FUNCTION + 0x40, 0x20, BYTES(0x0e, 40));
	tiny_fde(&section, true, cie, FUNCTION + 0x110, 0, BYTES(0x0e, 40));
	tiny_fde(&section, true, cie, 0, 0x10, BYTES(0x0e, 40));
	tiny_fde(&section, true, cie, FUNCTION, TINY_TEXT_BYTES, BYTES(0x0e, 40));
	struct unwind_table *table = table_of(&section, NULL, true);
	assert_string_equal(rows_text(table), "1000 rsp+24; 1040 rsp+32; 1050 none; 1100 rsp+16; 1110 none");
	assert_int_equal(table->skipped, 2);
	uint64_t size;
	assert_int_equal(unwind_table_function(table, FUNCTION + 0x3f, &size), FUNCTION);
	assert_int_equal(size, 0x40);
	assert_int_equal(unwind_table_function(table, FUNCTION + 0x4f, NULL), FUNCTION + 0x40);
	assert_int_equal(unwind_table_function(table, FUNCTION + 0x50, NULL), 0);
	assert_int_equal(unwind_table_function(table, FUNCTION - 1, NULL), 0);
	assert_int_equal(unwind_table_function(table, FUNCTION + 0x110, NULL), 0);
	assert_null(unwind_table_row(table, FUNCTION - 1));
	assert_null(unwind_table_row(table, (uint64_t)TINY_BASE + TINY_TEXT_BYTES));
	assert_int_equal(unwind_table_row(table, FUNCTION + 0x10f)->cfa, 2);
	unwind_table_free(table);
	buffer_release(&section);
}

static void debug_frame_fills_gaps(void **state)
{
	(void)state;
	struct buffer eh, debug;
	buffer_init(&eh);
	buffer_init(&debug);
	size_t cie = tiny_cie(&eh, true, "z", USUAL);
	tiny_fde(&eh, true, cie, FUNCTION + 0x40, 0x40, BYTES(0x0e, 16));
	cie = tiny_cie(&debug, false, "", USUAL);
	tiny_fde(&debug, false, cie, FUNCTION + 0x40, 0x40, BYTES(0x0e, 24));
	tiny_fde(&debug, false, cie, FUNCTION + 0x80, 0x10, BYTES(0x0e, 32));
	tiny_fde(&debug, false, cie, FUNCTION + 0x7f, 0x10, BYTES(0x0e, 40));
	tiny_fde(&debug, false, cie, FUNCTION, 0x40, BYTES(0x0e, 48));
	tiny_fde(&debug, false, cie, 0, 0x40, BYTES(0x0e, 48));
	struct unwind_table *table = table_of(&eh, &debug, true);
	assert_string_equal(rows_text(table), "1000 rsp+48; 1040 rsp+16; 1080 rsp+32; 1090 none");
	assert_int_equal(table->skipped, 0);
	unwind_table_free(table);
	table = table_of(NULL, &debug, true);
	assert_int_equal(table->function_count, 4);
	unwind_table_free(table);
	table = table_of(NULL, NULL, true);
	assert_int_equal(table->row_count, 0);
	assert_null(unwind_table_row(table, FUNCTION));
	assert_int_equal(unwind_table_function(table, FUNCTION, NULL), 0);
	unwind_table_free(table);
	buffer_release(&eh);
	buffer_release(&debug);
}

static void put(struct buffer *buffer, const void *bytes, size_t size)
{
	buffer_append(buffer, bytes, size);
}

/* Returns the rows of a CIE with these bytes after its id, and one FDE with these bytes after its CIE pointer. */
static char *rows_of_entries(bool is_eh, const void *cie, size_t cie_size, const void *fde, size_t fde_size)
{
	struct buffer section, content;
	uint32_t id = is_eh ? 0 : UINT32_MAX;
	buffer_init(&section);
	buffer_init(&content);
	put(&content, &id, sizeof(id));
	put(&content, cie, cie_size);
	tiny_entry(&section, &content);
	buffer_clear(&content);
	id = is_eh ? (uint32_t)section.size + 4 : 0;
	put(&content, &id, sizeof(id));
	put(&content, fde, fde_size);
	tiny_entry(&section, &content);
	struct unwind_table *table = is_eh ? table_of(&section, NULL, true) : table_of(NULL, &section, true);
	static char text[1100];
	snprintf(text, sizeof(text), "%s skipped %d", rows_text(table), (int)table->skipped);
	unwind_table_free(table);
	buffer_release(&content);
	buffer_release(&section);
	return text;
}

#define CIE_USUAL 0x0c, 7, 8, 0x90, 1
/* FUNCTION as an absolute pointer, and 0x40 as its size. */
#define FDE_8 0x00, 0x10, 0x40, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0
#define FDE_4 0x00, 0x10, 0x40, 0, 0x40, 0, 0, 0
#define GOOD "1000 rsp+8; 1040 none skipped 0"

static void pointers_and_augmentations(void **state)
{
	(void)state;
	const uint8_t absolute[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, absolute, sizeof(absolute), BYTES(FDE_8, 0)), GOOD);
	const uint8_t udata4[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, udata4, sizeof(udata4), BYTES(FDE_4, 0)), GOOD);
	const uint8_t uleb[] = { 3, 'z', 'R', 0, 1, 0x78, 16, 1, 0x01, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, uleb, sizeof(uleb), BYTES(0x80, 0xa0, 0x80, 2, 0x40, 0)), GOOD);
	/* personality (pcrel sdata4), language data, and FDE pointers (pcrel sdata4) */
	const uint8_t usual[] = { 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x1b, CIE_USUAL };
	int32_t to_function = FUNCTION - (TINY_EH_FRAME + 4 + 4 + (int)sizeof(usual) + 8);
	uint8_t pcrel[] = { 0, 0, 0, 0, 0x40, 0, 0, 0, 4, 9, 9, 9, 9 };
	memcpy(pcrel, &to_function, sizeof(to_function));
	assert_string_equal(rows_of_entries(true, usual, sizeof(usual), pcrel, sizeof(pcrel)), GOOD);
	/* The data of an unknown letter is skipped by the length of the augmentation ... */
	const uint8_t unknown[] = { 1, 'z', 'R', 'Q', 0, 1, 0x78, 16, 4, 0x03, 7, 7, 7, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, unknown, sizeof(unknown), BYTES(FDE_4, 0)), GOOD);
	/* ... unless the encoding of the pointers follows it, or the augmentation has no length. */
	const uint8_t hidden[] = { 1, 'z', 'Q', 'R', 0, 1, 0x78, 16, 2, 0x03, 0x03, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, hidden, sizeof(hidden), BYTES(FDE_4, 0)), " skipped 1");
	const uint8_t no_length[] = { 1, 'Q', 0, 1, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, no_length, sizeof(no_length), BYTES(FDE_8)), " skipped 1");
	const uint8_t gcc2[] = { 1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, gcc2, sizeof(gcc2), BYTES(FDE_8)), GOOD);
	const uint8_t indirect[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x83, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, indirect, sizeof(indirect), BYTES(FDE_4, 0)), " skipped 1");
	const uint8_t version2[] = { 2, 0, 1, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, version2, sizeof(version2), BYTES(FDE_8)), " skipped 1");
}

static void debug_frame_versions(void **state)
{
	(void)state;
	const uint8_t version3[] = { 3, 0, 1, 0x78, 0x90, 0x00, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, version3, sizeof(version3), BYTES(FDE_8)), GOOD);
	const uint8_t version4[] = { 4, 0, 8, 0, 1, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, version4, sizeof(version4), BYTES(FDE_8)), GOOD);
	const uint8_t segmented[] = { 4, 0, 8, 2, 1, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, segmented, sizeof(segmented), BYTES(1, 1, FDE_8)), GOOD);
	const uint8_t small[] = { 4, 0, 4, 0, 1, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, small, sizeof(small), BYTES(FDE_4)), GOOD);
	/* code alignment 4: an advance of 1 is 4 bytes */
	const uint8_t factor[] = { 3, 0, 4, 0x78, 16, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, factor, sizeof(factor), BYTES(FDE_8, 0x41, 0x0e, 16)),
			    "1000 rsp+8; 1004 rsp+16; 1040 none skipped 0");
	/* set_loc */
	assert_string_equal(rows_of_entries(false, version3, sizeof(version3),
					    BYTES(FDE_8, 0x01, 0x20, 0x10, 0x40, 0, 0, 0, 0, 0, 0x0e, 16)),
			    "1000 rsp+8; 1020 rsp+16; 1040 none skipped 0");
	assert_string_equal(rows_of_entries(false, version3, sizeof(version3),
					    BYTES(FDE_8, 0x48, 0x01, 0x04, 0x10, 0x40, 0, 0, 0, 0, 0, 0x0e, 16)),
			    "1000 rsp+8; 1008 none skipped 1");
	/* a return address in a register that does not exist */
	const uint8_t wild[] = { 3, 0, 1, 0x78, 17, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, wild, sizeof(wild), BYTES(FDE_8)), " skipped 1");
}

static void entries_of_64_bits(void **state)
{
	(void)state;
	struct buffer section;
	const uint8_t cie[] = { 0xff, 0xff, 0xff, 0xff, 18,   0,    0,    0, 0, 0, 0,    0,  0xff,
				0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78, 16, CIE_USUAL };
	const uint8_t fde[] = { 0xff, 0xff, 0xff, 0xff, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, FDE_8 };
	buffer_init(&section);
	put(&section, cie, sizeof(cie));
	put(&section, fde, sizeof(fde));
	struct unwind_table *table = table_of(NULL, &section, true);
	assert_string_equal(rows_text(table), "1000 rsp+8; 1040 none");
	unwind_table_free(table);
	/* A length beyond the end of the section. */
	buffer_append(&section, "\xf0\0\0\0abc", 7);
	table = table_of(NULL, &section, true);
	assert_string_equal(rows_text(table), "1000 rsp+8; 1040 none");
	assert_int_equal(table->skipped, 1);
	unwind_table_free(table);
	buffer_release(&section);
}

/* --- memory --- */

static void try_to_build(const struct buffer *bytes, const char *rows, bool *was_built)
{
	struct error error = { 0 };
	struct elf_file *file = elf_file_from_memory(bytes->bytes, bytes->size, "tiny", &error);
	struct unwind_table *table = file ? unwind_table_new(file, &error) : NULL;
	elf_file_free(file);
	*was_built = table != NULL;
	if (table && strcmp(rows_text(table), rows) != 0)
		*was_built = false, error.code = 0;
	unwind_table_free(table);
	assert_int_equal(error.code, *was_built ? 0 : ERROR_MEMORY);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct buffer eh, debug, bytes;
	bool was_built = false;
	unsigned failures = 0;
	buffer_init(&eh);
	buffer_init(&debug);
	buffer_init(&bytes);
	size_t cie = tiny_cie(&eh, true, "z", USUAL);
	tiny_fde(&eh, true, cie, FUNCTION + 0x40, 0x40, BYTES(0x0e, 16));
	tiny_fde(&eh, true, cie, FUNCTION, 0x40, BYTES(0x0e, 24));
	cie = tiny_cie(&debug, false, "", USUAL);
	tiny_fde(&debug, false, cie, FUNCTION - 0x40, 0x40, BYTES(0x0e, 32));
	tiny_elf(&bytes, &eh, &debug, true);
	ALLOC_FAIL_EACH({
		try_to_build(&bytes, "fc0 rsp+32; 1000 rsp+24; 1040 rsp+16; 1080 none", &was_built);
		failures += !was_built;
	});
	assert_true(was_built); /* the last build had no failure */
	assert_true(failures >= 8);
	buffer_release(&eh);
	buffer_release(&debug);
	buffer_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_become_rows),  cmocka_unit_test(functions_are_sorted_and_cut),
		cmocka_unit_test(debug_frame_fills_gaps),    cmocka_unit_test(pointers_and_augmentations),
		cmocka_unit_test(debug_frame_versions),      cmocka_unit_test(entries_of_64_bits),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
