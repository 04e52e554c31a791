/* Tables of hand-made sections: entries, pointers, versions; and the list of causes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "processor/tests.h"
#include "support/alloc_fail.h"
#include "support/tiny_table.h"
#include "unwind/cfi.h"

/* CFA = sp + 8: how every function of these tests begins. */
#define USUAL BYTES(TEST_FIRST_RULES)

enum { FUNCTION = TINY_FUNCTION };

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
	struct unwind_table *table = tiny_table(&section, NULL, true);
	assert_string_equal(tiny_rows_text(table), "1000 sp+24; 1040 sp+32; 1050 none; 1100 sp+16; 1110 none");
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
	const struct unwind_row *last = &table->rows[table->row_count - 1];
	assert_ptr_equal(unwind_table_row(table, FUNCTION + 0x110), last);
	assert_ptr_equal(unwind_table_row(table, (uint64_t)TINY_BASE + TINY_TEXT_BYTES - 1), last);
	assert_int_equal(table->page_shift, 10); /* 5 rows in 0x1110 bytes */
	assert_int_equal(table->page_count, 5);
	unwind_table_free(table);
	buffer_release(&section);
}

/* A page has 256 bytes, where so many rows are so close. */
static void pages_are_small_where_rows_are(void **state)
{
	(void)state;
	enum { MOST = 64, BYTES_EACH = 0x10 };
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, "z", USUAL);
	for (uint8_t i = 0; i < MOST; i++)
		tiny_fde(&section, true, cie, FUNCTION + (uint64_t)i * BYTES_EACH, BYTES_EACH,
			 BYTES(0x0e, (uint8_t)(8 + 8 * (i % 8))));
	struct unwind_table *table = tiny_table(&section, NULL, true);
	assert_int_equal(table->page_shift, 8);
	assert_int_equal(table->page_count, 0x15);
	for (uint64_t at = 0; at < MOST * BYTES_EACH; at++)
		assert_int_equal(unwind_table_row(table, FUNCTION + at)->cfa, 1 + at / BYTES_EACH % 8);
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
	struct unwind_table *table = tiny_table(&eh, &debug, true);
	assert_string_equal(tiny_rows_text(table), "1000 sp+48; 1040 sp+16; 1080 sp+32; 1090 none");
	assert_int_equal(table->skipped, 0);
	unwind_table_free(table);
	table = tiny_table(NULL, &debug, true);
	assert_int_equal(table->function_count, 4);
	unwind_table_free(table);
	table = tiny_table(NULL, NULL, true);
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
	struct unwind_table *table = is_eh ? tiny_table(&section, NULL, true) : tiny_table(NULL, &section, true);
	static char text[1100];
	snprintf(text, sizeof(text), "%s skipped %d", tiny_rows_text(table), (int)table->skipped);
	unwind_table_free(table);
	buffer_release(&content);
	buffer_release(&section);
	return text;
}

#define RA TEST_RETURN_COLUMN
#define CIE_USUAL TEST_FIRST_RULES
/* FUNCTION as an absolute pointer, and 0x40 as its size. */
#define FDE_8 0x00, 0x10, 0x40, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0
#define FDE_4 0x00, 0x10, 0x40, 0, 0x40, 0, 0, 0
#define GOOD "1000 sp+8; 1040 none skipped 0"

static void pointers_and_augmentations(void **state)
{
	(void)state;
	const uint8_t absolute[] = { 1, 'z', 'R', 0, 1, 0x78, RA, 1, 0x00, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, absolute, sizeof(absolute), BYTES(FDE_8, 0)), GOOD);
	const uint8_t udata4[] = { 1, 'z', 'R', 0, 1, 0x78, RA, 1, 0x03, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, udata4, sizeof(udata4), BYTES(FDE_4, 0)), GOOD);
	const uint8_t uleb[] = { 3, 'z', 'R', 0, 1, 0x78, RA, 1, 0x01, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, uleb, sizeof(uleb), BYTES(0x80, 0xa0, 0x80, 2, 0x40, 0)), GOOD);
	/* personality (pcrel sdata4), language data, and pointers of sdata4, pcrel */
	const uint8_t usual[] = { 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, RA, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x1b, CIE_USUAL };
	int32_t to_function = FUNCTION - (TINY_EH_FRAME + 4 + 4 + (int)sizeof(usual) + 8);
	uint8_t pcrel[] = { 0, 0, 0, 0, 0x40, 0, 0, 0, 4, 9, 9, 9, 9 };
	memcpy(pcrel, &to_function, sizeof(to_function));
	assert_string_equal(rows_of_entries(true, usual, sizeof(usual), pcrel, sizeof(pcrel)), GOOD);
	/* The data of an unknown letter is skipped by the length of the augmentation ... */
	const uint8_t unknown[] = { 1, 'z', 'R', 'Q', 0, 1, 0x78, RA, 4, 0x03, 7, 7, 7, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, unknown, sizeof(unknown), BYTES(FDE_4, 0)), GOOD);
	/* ... unless the encoding of the pointers follows it, or the augmentation has no length. */
	const uint8_t hidden[] = { 1, 'z', 'Q', 'R', 0, 1, 0x78, RA, 2, 0x03, 0x03, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, hidden, sizeof(hidden), BYTES(FDE_4, 0)), " skipped 1");
	const uint8_t absolute_hidden[] = { 1, 'z', 'Q', 'R', 0, 1, 0x78, RA, 6, 0x03, 1, 2, 3, 4, 0x00, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, absolute_hidden, sizeof(absolute_hidden), BYTES(FDE_8, 0)),
			    " skipped 1");
	/* Instructions of the CIE that are damaged, or advance. */
	const uint8_t damaged[] = { 1, 0, 1, 0x78, RA, CIE_USUAL, 0x3e };
	assert_string_equal(rows_of_entries(true, damaged, sizeof(damaged), BYTES(FDE_8)), " skipped 1");
	const uint8_t advances[] = { 1, 0, 1, 0x78, RA, CIE_USUAL, 0x41, 0 };
	assert_string_equal(rows_of_entries(true, advances, sizeof(advances), BYTES(FDE_8)), " skipped 1");
	const uint8_t no_length[] = { 1, 'Q', 0, 1, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, no_length, sizeof(no_length), BYTES(FDE_8)), " skipped 1");
	const uint8_t gcc2[] = { 1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, gcc2, sizeof(gcc2), BYTES(FDE_8)), GOOD);
	const uint8_t indirect[] = { 1, 'z', 'R', 0, 1, 0x78, RA, 1, 0x83, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, indirect, sizeof(indirect), BYTES(FDE_4, 0)), " skipped 1");
	const uint8_t version2[] = { 2, 0, 1, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(true, version2, sizeof(version2), BYTES(FDE_8)), " skipped 1");
}

static void debug_frame_versions(void **state)
{
	(void)state;
	const uint8_t version3[] = { 3, 0, 1, 0x78, 0x80 | RA, 0x00, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, version3, sizeof(version3), BYTES(FDE_8)), GOOD);
	const uint8_t version4[] = { 4, 0, 8, 0, 1, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, version4, sizeof(version4), BYTES(FDE_8)), GOOD);
	const uint8_t segmented[] = { 4, 0, 8, 2, 1, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, segmented, sizeof(segmented), BYTES(1, 1, FDE_8)), GOOD);
	const uint8_t small[] = { 4, 0, 4, 0, 1, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, small, sizeof(small), BYTES(FDE_4)), GOOD);
	/* code alignment 4: an advance of 1 is 4 bytes */
	const uint8_t factor[] = { 3, 0, 4, 0x78, RA, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, factor, sizeof(factor), BYTES(FDE_8, 0x41, 0x0e, 16)),
			    "1000 sp+8; 1004 sp+16; 1040 none skipped 0");
	/* set_loc */
	assert_string_equal(rows_of_entries(false, version3, sizeof(version3),
					    BYTES(FDE_8, 0x01, 0x20, 0x10, 0x40, 0, 0, 0, 0, 0, 0x0e, 16)),
			    "1000 sp+8; 1020 sp+16; 1040 none skipped 0");
	assert_string_equal(rows_of_entries(false, version3, sizeof(version3),
					    BYTES(FDE_8, 0x48, 0x01, 0x04, 0x10, 0x40, 0, 0, 0, 0, 0, 0x0e, 16)),
			    "1000 sp+8; 1008 none skipped 1");
	/* a return address in a register that does not exist */
	const uint8_t wild[] = { 3, 0, 1, 0x78, ARCH_REGISTERS, CIE_USUAL };
	assert_string_equal(rows_of_entries(false, wild, sizeof(wild), BYTES(FDE_8)), " skipped 1");
}

static void entries_of_64_bits(void **state)
{
	(void)state;
	struct buffer section;
	const uint8_t cie[] = { 0xff, 0xff, 0xff, 0xff, 18,   0,    0,    0, 0, 0, 0,    0,  0xff,
				0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78, RA, CIE_USUAL };
	const uint8_t fde[] = { 0xff, 0xff, 0xff, 0xff, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, FDE_8 };
	buffer_init(&section);
	put(&section, cie, sizeof(cie));
	put(&section, fde, sizeof(fde));
	struct unwind_table *table = tiny_table(NULL, &section, true);
	assert_string_equal(tiny_rows_text(table), "1000 sp+8; 1040 none");
	unwind_table_free(table);
	/* A length beyond the end of the section. */
	buffer_append(&section, "\xf0\0\0\0abc", 7);
	table = tiny_table(NULL, &section, true);
	assert_string_equal(tiny_rows_text(table), "1000 sp+8; 1040 none");
	assert_int_equal(table->skipped, 1);
	unwind_table_free(table);
	buffer_release(&section);
}

/* The end of a function is at most the last address. */
static void sizes_of_functions(void **state)
{
	(void)state;
	const uint8_t cie[] = { 3, 0, 1, 0x78, RA, CIE_USUAL };
	for (uint64_t more = 0; more < 2; more++) {
		uint64_t range[2] = { FUNCTION, UINT64_MAX - FUNCTION + more };
		char *rows = rows_of_entries(false, cie, sizeof(cie), range, sizeof(range));
		assert_string_equal(rows,
				    more ? " skipped 1" : " skipped 0"); /* not damaged, but outside of the text */
	}
}

/* Adds an FDE with this CIE pointer for 0x10 bytes at FUNCTION + offset. */
static void add_pointing(struct buffer *section, uint32_t pointer, uint64_t offset)
{
	struct buffer content;
	uint64_t range[2] = { FUNCTION + offset, 0x10 };
	buffer_init(&content);
	put(&content, &pointer, sizeof(pointer));
	put(&content, range, sizeof(range));
	put(&content, "\0\0", 2);
	tiny_entry(section, &content);
	buffer_release(&content);
}

/* Each function has the rules of its own CIE; one that points elsewhere is skipped. */
static void pointers_to_cies(void **state)
{
	(void)state;
	struct buffer eh, debug;
	buffer_init(&eh);
	buffer_init(&debug);
	size_t cies[] = { tiny_cie(&eh, true, "z", USUAL),
			  tiny_cie(&eh, true, "z", BYTES(TEST_FIRST_RULES, 0x0e, 24)) };
	for (unsigned i = 0; i < 6; i++)
		tiny_fde(&eh, true, cies[i / 2 % 2], FUNCTION + 0x10 * i, 0x10, BYTES(0));
	/* To a function, to itself, and to the addresses before, at and behind the end of the section. */
	uint32_t here = (uint32_t)eh.size + 4;
	const uint32_t wrong[] = { here - (uint32_t)cies[1] - 32, 4, here + 1, UINT32_MAX,
				   here - (uint32_t)eh.size - 26 };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		add_pointing(&eh, wrong[i], 0x60);
	struct unwind_table *table = tiny_table(&eh, NULL, true);
	assert_string_equal(tiny_rows_text(table), "1000 sp+8; 1020 sp+24; 1040 sp+8; 1060 none");
	assert_int_equal(table->skipped, sizeof(wrong) / sizeof(wrong[0]));
	unwind_table_free(table);
	tiny_cie(&debug, false, "", USUAL);
	add_pointing(&debug, 0, 0);
	/* To a function whose bytes would be a CIE, and to the addresses at, before and behind the end of the section. */
	uint32_t function = (uint32_t)debug.size;
	add_pointing(&debug, 0, (uint64_t)TINY_BASE + 1 - FUNCTION);
	add_pointing(&debug, function, 0x20);
	uint32_t end = (uint32_t)debug.size + 3 * 26;
	add_pointing(&debug, end, 0x20);
	add_pointing(&debug, end - 1, 0x20);
	add_pointing(&debug, end + 1, 0x20);
	assert_int_equal(debug.size, end);
	table = tiny_table(NULL, &debug, true);
	assert_string_equal(tiny_rows_text(table), "1 sp+8; 11 none; 1000 sp+8; 1010 none");
	assert_int_equal(table->skipped, 4);
	unwind_table_free(table);
	buffer_release(&eh);
	buffer_release(&debug);
}

/* A section has at most 65536 CIEs. */
static void number_of_cies_is_limited(void **state)
{
	(void)state;
	enum { CIES_MAX = 1 << 16, FUNCTION_BYTES = 8 };
	struct buffer section;
	buffer_init(&section);
	for (uint64_t i = 0; i <= CIES_MAX; i++) {
		size_t cie = tiny_cie(&section, true, "z", USUAL);
		tiny_fde(&section, true, cie, FUNCTION + i * FUNCTION_BYTES, FUNCTION_BYTES, BYTES(0));
	}
	struct unwind_table *table = tiny_table(&section, NULL, true);
	assert_int_equal(table->function_count, CIES_MAX);
	assert_int_equal(table->skipped, 1);
	unwind_table_free(table);
	buffer_release(&section);
}

/* CIEs that contain each other: they are read until their bytes are more than four times the bytes of the section. */
static void bytes_of_cies_are_limited(void **state)
{
	(void)state;
	enum { NESTED = 5, HEAD = 8, LEAST = 400, MOST = 1400 };
	unsigned read = 0, refused = 0;
	for (uint32_t bytes = LEAST; bytes < MOST; bytes++) {
		struct buffer section;
		uint64_t sum = 0;
		buffer_init(&section);
		for (uint32_t i = 0; i < NESTED; i++) {
			const uint32_t head[] = { bytes - i * HEAD - (uint32_t)sizeof(uint32_t), UINT32_MAX };
			put(&section, head, sizeof(head));
			sum += bytes - (i + 1) * HEAD;
		}
		while (section.size < bytes)
			buffer_append_byte(&section, 0);
		for (uint32_t i = 0; i < NESTED; i++)
			add_pointing(&section, i * HEAD, 0x20);
		size_t good = tiny_cie(&section, false, "", USUAL);
		sum += section.size - good - HEAD;
		add_pointing(&section, (uint32_t)good, 0);
		bool is_read = sum / 4 <= section.size;
		struct unwind_table *table = tiny_table(NULL, &section, true);
		assert_int_equal(table->function_count, is_read);
		assert_int_equal(table->skipped, NESTED + !is_read);
		read += is_read;
		refused += !is_read;
		unwind_table_free(table);
		buffer_release(&section);
	}
	assert_true(read > 0 && refused > 0);
}

/* Entries of length 0, and bytes behind the last entry. */
static void ends_of_sections(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		const char *rows;
		unsigned skipped;
	} cases[] = {
		{ "", 0, "1000 sp+8; 1010 none; 1020 sp+8; 1030 none", 0 },
		{ "\0\0\0\0", 4, "1000 sp+8; 1010 none; 1020 sp+8; 1030 none", 0 },
		{ "\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 12, "1000 sp+8; 1010 none; 1020 sp+8; 1030 none", 1 },
		{ "\1\0\0\0x", 5, "1000 sp+8; 1010 none; 1020 sp+8; 1030 none", 1 }, /* too short for an id */
		{ "\xff\xff\0\0", 4, "1000 sp+8; 1010 none", 1 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t behind = 0; behind < 6; behind++) {
			struct buffer section;
			buffer_init(&section);
			size_t cie = tiny_cie(&section, true, "z", USUAL);
			tiny_fde(&section, true, cie, FUNCTION, 0x10, BYTES(0));
			put(&section, cases[i].bytes, cases[i].size);
			tiny_fde(&section, true, cie, FUNCTION + 0x20, 0x10, BYTES(0));
			put(&section, "\7\7\7\7\7\7", behind);
			struct unwind_table *table = tiny_table(&section, NULL, true);
			assert_string_equal(tiny_rows_text(table), cases[i].rows);
			/* Fewer bytes than a length are padding. */
			bool is_cut = behind >= 4 && i < 4;
			assert_int_equal(table->skipped, cases[i].skipped + is_cut);
			unwind_table_free(table);
			/* Without section headers, the size is unknown, and an entry of length 0 is the end. */
			table = tiny_table(&section, NULL, false);
			assert_string_equal(tiny_rows_text(table), i == 1 ? "1000 sp+8; 1010 none" : cases[i].rows);
			unwind_table_free(table);
			buffer_release(&section);
		}
	}
}

/* Rules that are damaged from the start of a function on: the gap behind it is part of the same row, and other functions follow. */
static void damaged_functions(void **state)
{
	(void)state;
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, "z", USUAL);
	tiny_fde(&section, true, cie, FUNCTION, 0x10, BYTES(0x3e));
	tiny_fde(&section, true, cie, FUNCTION + 0x40, 0x10, BYTES(0));
	tiny_fde(&section, true, cie, FUNCTION + 0x80, 0x10, BYTES(0x44, 0x3e));
	tiny_fde(&section, true, cie, FUNCTION + 0x90, 0x10, BYTES(0x0e, 16));
	struct unwind_table *table = tiny_table(&section, NULL, true);
	assert_string_equal(tiny_rows_text(table),
			    "1000 none; 1040 sp+8; 1050 none; 1080 sp+8; 1084 none; 1090 sp+16; 10a0 none");
	assert_int_equal(table->skipped, 2);
	unwind_table_free(table);
	buffer_release(&section);
}

/* A function with an indirect pointer is skipped, and has nothing of the function before it. */
static void indirect_pointers(void **state)
{
	(void)state;
	const uint8_t indirect[] = { 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, RA, 1, 0x80, CIE_USUAL };
	struct buffer section, content;
	buffer_init(&section);
	buffer_init(&content);
	size_t cie = tiny_cie(&section, true, "z", USUAL);
	tiny_fde(&section, true, cie, FUNCTION, 0x10, BYTES(0));
	cie = section.size;
	put(&content, indirect, sizeof(indirect));
	tiny_entry(&section, &content);
	tiny_fde(&section, true, cie, 0x20, 0, BYTES(0)); /* the pointer, which would fit as a size */
	struct unwind_table *table = tiny_table(&section, NULL, true);
	assert_string_equal(tiny_rows_text(table), "1000 sp+8; 1010 none");
	assert_int_equal(table->skipped, 1);
	unwind_table_free(table);
	buffer_release(&content);
	buffer_release(&section);
}

/* A section without bytes is none: .eh_frame is found through the program headers. */
static void empty_sections(void **state)
{
	(void)state;
	struct buffer section, bytes;
	buffer_init(&section);
	buffer_init(&bytes);
	size_t cie = tiny_cie(&section, true, "z", USUAL);
	tiny_fde(&section, true, cie, FUNCTION, 0x10, BYTES(0));
	buffer_append(&section, "\0\0\0\0", 4);
	tiny_elf(&bytes, &section, NULL, true);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)bytes.bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(bytes.bytes + header->e_shoff);
	sections[1].sh_size = 0;
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_string_equal(tiny_rows_text(table), "1000 sp+8; 1010 none");
	unwind_table_free(table);
	elf_file_free(file);
	buffer_release(&bytes);
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
	if (table && strcmp(tiny_rows_text(table), rows) != 0)
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
		try_to_build(&bytes, "fc0 sp+32; 1000 sp+24; 1040 sp+16; 1080 none", &was_built);
		failures += !was_built;
	});
	assert_true(was_built); /* the last build had no failure */
	assert_true(failures >= 8);
	buffer_release(&eh);
	buffer_release(&debug);
	buffer_release(&bytes);
}

/* --- docs/unwinding.md --- */

static void try_lisp(unsigned *built)
{
	struct unwind_table *table = unwind_table_of_lisp();
	if (table) {
		const struct unwind_row *row = unwind_table_row(table, 0x1000);
		assert_true(row && row->kind == UNWIND_LISP);
		assert_non_null(table->pages);
		++*built;
	}
	unwind_table_free(table);
}

/* The table of compiled Lisp has one row and no call frame information. */
static void lisp_has_one_row(void **state)
{
	(void)state;
	unsigned built = 0;
	ALLOC_FAIL_EACH(try_lisp(&built));
	assert_int_equal(built, 1);
}

static void causes_are_documented(void **state)
{
	(void)state;
	static char text[64 * 1024];
	char row[256];
	FILE *document = fopen(DOCUMENT, "re");
	assert_non_null(document);
	text[fread(text, 1, sizeof(text) - 1, document)] = 0;
	fclose(document);
#define X(name, kind, sentence)                                         \
	snprintf(row, sizeof(row), "\n| `%s` | %s |", #name, sentence); \
	if (!strstr(text, row))                                         \
		fail_msg("%s is missing, or has another text", #name);  \
	assert_string_equal(unwind_cause_text(name), sentence);         \
	assert_int_equal(unwind_cause_kind(name), kind);
	UNWIND_CAUSE_LIST(X)
#undef X
	assert_false(unwind_cause_whole(UNWIND_CAUSE_COUNT));
	assert_string_equal(unwind_cause_text(UNWIND_CAUSE_COUNT), "an unknown cause");
	static const char *const kinds[] = { "UNWIND_SP",     "UNWIND_FP",      "UNWIND_FP_DEREF",  "UNWIND_PLT",
					     "UNWIND_SIGNAL", "UNWIND_END",     "UNWIND_NO_RULE",   "UNWIND_SLOW",
					     "UNWIND_SWITCH", "UNWIND_LISP",    "UNWIND_GOROUTINE", "UNWIND_GROWING",
					     "UNWIND_CLOCK",  "UNWIND_CALLBACK" };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(row, sizeof(row), "\n| `%s` |", kinds[i]);
		if (!strstr(text, row))
			fail_msg("%s is missing", kinds[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_sorted_and_cut),
		cmocka_unit_test(debug_frame_fills_gaps),
		cmocka_unit_test(pointers_and_augmentations),
		cmocka_unit_test(debug_frame_versions),
		cmocka_unit_test(entries_of_64_bits),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(sizes_of_functions),
		cmocka_unit_test(pointers_to_cies),
		cmocka_unit_test(pages_are_small_where_rows_are),
		cmocka_unit_test(number_of_cies_is_limited),
		cmocka_unit_test(bytes_of_cies_are_limited),
		cmocka_unit_test(ends_of_sections),
		cmocka_unit_test(damaged_functions),
		cmocka_unit_test(empty_sections),
		cmocka_unit_test(indirect_pointers),
		cmocka_unit_test(lisp_has_one_row),
		cmocka_unit_test(causes_are_documented),
	};
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
