/*
 * Random functions in both sections: which of them an address belongs to, and so which row. The expected values come from the
 * definition: .eh_frame precedes .debug_frame; of functions that overlap, the function that starts later wins; of functions with one start,
 * the first in the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "processor/tests.h"
#include "support/sample_profile.h"
#include "support/tiny_table.h"

enum { ROUNDS = 250, MOST = 48, CIES = 2 };

struct range {
	uint64_t start, end; /* minus TINY_BASE */
	int16_t cfa;         /* in words */
};

struct ranges {
	struct range items[2 * MOST];
	size_t count;
};

/* --- the definition --- */

static int by_start(const void *left, const void *right)
{
	const struct range *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->cfa > b->cfa) - (a->cfa < b->cfa); /* they are numbered in the order of the file */
}

static void settle(struct ranges *ranges)
{
	struct ranges kept = { 0 };
	qsort(ranges->items, ranges->count, sizeof(ranges->items[0]), by_start);
	for (size_t i = 0; i < ranges->count; i++) {
		struct range range = ranges->items[i];
		if (i > 0 && range.start == ranges->items[i - 1].start)
			continue;
		for (size_t k = i + 1; k < ranges->count; k++)
			if (ranges->items[k].start > range.start && ranges->items[k].start < range.end)
				range.end = ranges->items[k].start;
		kept.items[kept.count++] = range;
	}
	*ranges = kept;
}

/* Adds the settled ranges of the second section that touch none of the first. */
static void join(struct ranges *first, const struct ranges *second)
{
	size_t count = first->count;
	for (size_t i = 0; i < second->count; i++) {
		bool touches = false;
		for (size_t k = 0; k < count; k++)
			touches |= second->items[i].start < first->items[k].end &&
				   first->items[k].start < second->items[i].end;
		if (!touches)
			first->items[first->count++] = second->items[i];
	}
	qsort(first->items, first->count, sizeof(first->items[0]), by_start);
}

/* --- the file --- */

/* Adds functions to a section and, if they are in the text, to the expected ranges. Returns the number of others. */
static size_t add_functions(struct random *random, struct buffer *section, bool is_eh, uint64_t span, uint64_t text,
			    struct ranges *ranges, int16_t *next_cfa)
{
	size_t cies[CIES], outside = 0;
	for (unsigned i = 0; i < CIES; i++)
		cies[i] = tiny_cie(section, is_eh, is_eh ? "z" : "", BYTES(TEST_FIRST_RULES));
	for (size_t left = random_below(random, MOST) + is_eh; left > 0; left--) {
		uint64_t start = random_below(random, 8) ? random_below(random, span) & ~UINT64_C(3) : text - 8;
		uint64_t size = random_below(random, 6) ? 4 + random_below(random, span / 8) : random_below(random, 10);
		int16_t cfa = (*next_cfa)++;
		uint8_t rules[] = { 0x0e, (uint8_t)(0x80 | (cfa << 3 & 0x7f)), (uint8_t)(cfa >> 4) };
		tiny_fde(section, is_eh, cies[random_below(random, CIES)], TINY_BASE + start, size, rules,
			 sizeof(rules));
		if (size == 0)
			continue;
		if (start + size <= text)
			ranges->items[ranges->count++] = (struct range){ start, start + size, cfa };
		else
			outside++;
	}
	return outside;
}

/* Makes a table of a file whose text has so many bytes. */
static struct unwind_table *table_of(const struct buffer *eh, const struct buffer *debug, uint64_t text_bytes)
{
	struct buffer bytes;
	buffer_init(&bytes);
	tiny_elf(&bytes, eh, debug, true);
	((Elf64_Phdr *)(void *)(bytes.bytes + sizeof(Elf64_Ehdr)))->p_memsz = text_bytes;
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	assert_non_null(file);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	elf_file_free(file);
	buffer_release(&bytes);
	return table;
}

/* --- look-ups --- */

static void check_address(const struct unwind_table *table, const struct ranges *ranges, uint64_t pc, uint64_t text)
{
	uint64_t address = TINY_BASE + pc, size = 7;
	const struct range *in = NULL, *last = NULL;
	for (size_t i = 0; i < ranges->count && pc < text; i++) {
		if (ranges->items[i].start <= pc)
			last = &ranges->items[i];
		if (ranges->items[i].start <= pc && pc < ranges->items[i].end)
			in = &ranges->items[i];
	}
	const struct unwind_row *row = unwind_table_row(table, address);
	if (!last != !row)
		fail_msg("0x%" PRIx64 ": %s row", pc, row ? "a" : "no");
	if (row && (in ? row->kind != UNWIND_SP || row->cfa != in->cfa : row->kind != UNWIND_NO_RULE))
		fail_msg("0x%" PRIx64 ": the row is of kind %d, %d", pc, row->kind, row->cfa);
	assert_int_equal(unwind_table_function(table, address, &size), in ? TINY_BASE + in->start : 0);
	assert_int_equal(size, in ? in->end - in->start : 7);
	assert_int_equal(unwind_table_function_end(table, address), last ? TINY_BASE + last->end : 0);
}

static void check_table(const struct unwind_table *table, const struct ranges *ranges, struct random *random,
			uint64_t span, uint64_t text)
{
	assert_int_equal(table->base, TINY_BASE);
	assert_int_equal(table->text_size, text);
	assert_int_equal(table->function_count, ranges->count);
	for (size_t i = 0; i < ranges->count; i++) {
		assert_int_equal(table->functions[i].start, ranges->items[i].start);
		assert_int_equal(table->functions[i].size, ranges->items[i].end - ranges->items[i].start);
		const uint64_t edges[] = { ranges->items[i].start, ranges->items[i].end };
		for (unsigned k = 0; k < 6; k++)
			check_address(table, ranges, edges[k / 3] + k % 3 - 1, text);
	}
	for (size_t i = 0; i < 100; i++)
		check_address(table, ranges, random_below(random, span), text);
	const uint64_t edges[] = { UINT64_MAX, 0, text - 1, text, text + 1, UINT64_C(1) << 32 };
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		check_address(table, ranges, edges[i], text);
}

static void each_address_has_its_function(void **state)
{
	(void)state;
	static const uint64_t texts[] = { 0x400, 0x10000, 0x1000000, UINT32_MAX, UINT64_C(0x180000000) };
	struct random random = { .state = 1993 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct buffer eh, debug;
		struct ranges expected = { 0 }, second = { 0 };
		int16_t next_cfa = 2;
		uint64_t bytes = texts[round % 5], text = bytes < UINT32_MAX ? bytes : UINT32_MAX;
		buffer_init(&eh);
		buffer_init(&debug);
		size_t outside = add_functions(&random, &eh, true, text, text, &expected, &next_cfa);
		bool has_debug = round % 3 > 0;
		if (has_debug)
			add_functions(&random, &debug, false, text, text, &second, &next_cfa);
		settle(&expected);
		settle(&second);
		join(&expected, &second);
		struct unwind_table *table = table_of(&eh, has_debug ? &debug : NULL, bytes);
		assert_int_equal(table->skipped, outside);
		check_table(table, &expected, &random, text, text);
		unwind_table_free(table);
		buffer_release(&eh);
		buffer_release(&debug);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_address_has_its_function) };
	return cmocka_run_group_tests_name("unwind_ranges", tests, NULL, NULL);
}
