/* Columns of the profile file: their exact bytes, the limits of each kind of field, and bytes that are no column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile_file/column.h"
#include "support/sample_profile.h"

enum { MOST_ROWS = 5000 };

/* A field of each size and kind, between bytes that no column may change. */
struct item {
	uint8_t before;
	uint8_t u8;
	uint8_t between[2];
	uint32_t u32;
	uint64_t u64;
	uint8_t after[8];
};

#define FIELD(member, kind_)                                                                                         \
	{                                                                                                            \
		.offset = offsetof(struct item, member), .size = sizeof(((struct item *)0)->member), .kind = (kind_) \
	}

static const struct table_column byte = FIELD(u8, COLUMN_VALUE), flag = FIELD(u8, COLUMN_FLAG),
				 word = FIELD(u32, COLUMN_VALUE), id = FIELD(u32, COLUMN_ID),
				 number = FIELD(u64, COLUMN_VALUE), bytes = FIELD(u64, COLUMN_BYTES),
				 time = FIELD(u64, COLUMN_TIME);

/* --- fields --- */

static void test_numbers_on_disk(void **state)
{
	static const struct {
		const struct table_column *column;
		struct item item;
		uint64_t on_disk;
	} cases[] = {
		{ &byte, { .u8 = 0 }, 0 },
		{ &byte, { .u8 = 255 }, 255 },
		{ &flag, { .u8 = 1 }, 1 },
		{ &word, { .u32 = 7 }, 7 },
		{ &word, { .u32 = UINT32_MAX }, UINT32_MAX },
		{ &id, { .u32 = UINT32_MAX }, 0 }, /* none */
		{ &id, { .u32 = 0 }, 1 },
		{ &id, { .u32 = UINT32_MAX - 1 }, UINT32_MAX },
		{ &number, { .u64 = 999 }, 999 },
		{ &number, { .u64 = UINT64_MAX }, UINT64_MAX },
		{ &bytes, { .u64 = UINT64_MAX - 1 }, UINT64_MAX - 1 },
		{ &time, { .u64 = 0 }, 0 }, /* not known */
		{ &time, { .u64 = 1 }, 1 }, /* a known time stays known */
		{ &time, { .u64 = 999 }, 1 },
		{ &time, { .u64 = 1000 }, 1 },
		{ &time, { .u64 = 1999 }, 1 },
		{ &time, { .u64 = 2000 }, 2 },
		{ &time, { .u64 = UINT64_MAX }, UINT64_MAX / 1000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(column_get(cases[i].column, (const char *)&cases[i].item), cases[i].on_disk);
}

/* --- exact bytes --- */

static void assert_encodes(const uint64_t *values, size_t rows, bool prefer_delta, const void *expected, size_t size)
{
	struct buffer out;
	buffer_init(&out);
	column_encode(&out, values, rows, prefer_delta);
	assert_int_equal(out.size, size);
	assert_memory_equal(out.bytes, expected, size);
	buffer_release(&out);
}

#define ENCODES(prefer_delta, expected, ...)                                                                     \
	assert_encodes((const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, prefer_delta, \
		       expected, sizeof(expected) - 1)

/* Form, [start,] base, then the planes of bytes; start and base are signed variable-length numbers (value * 2). */
static void test_exact_bytes(void **state)
{
	(void)state;
	for (unsigned prefer = 0; prefer < 2; prefer++) {
		ENCODES(prefer, "\x00\x0a", 5);
		ENCODES(prefer, "\x00\x0a", 5, 5, 5);
		ENCODES(prefer, "\x00\x01", UINT64_MAX); /* -1 */
		ENCODES(prefer, "\x80\x08\x02", 5, 6);   /* 4, and 1 more in each row */
		ENCODES(prefer, "\x80\x08\x02", 5, 6, 7, 8);
		ENCODES(prefer, "\x80\x0e\x01", 6, 5, 4); /* 7, and 1 less in each row */
		ENCODES(prefer, "\x80\x01\x02", 0, 1);    /* -1 */
	}
	/* Differences of 300 and -300 need as many bytes as 0 and 300. */
	ENCODES(false,
		"\x02\x0a"
		"\x00\x2c\x00"
		"\x00\x01\x00",
		5, 305, 5);
	ENCODES(true,
		"\x82\xcd\x04\xd7\x04"
		"\x58\x58\x00"
		"\x02\x02\x00",
		5, 305, 5);
	/* Differences of 200 and -200 need more bytes than 0 and 200. */
	ENCODES(true,
		"\x01\x0a"
		"\x00\xc8\x00",
		5, 205, 5);
	/* Differences of 200 and 201 need fewer bytes than the sum. The last row has the largest difference. */
	ENCODES(false,
		"\x81\x8f\x03\x90\x03"
		"\x00\x00\x01",
		0, 200, 401);
	/* The same with the smallest one in the last row. */
	ENCODES(false,
		"\x81\x91\x03\x90\x03"
		"\x01\x01\x00",
		0, 201, 401);
}

/* The width is the width of the difference between the largest and the smallest number. */
static void test_widths(void **state)
{
	(void)state;
	for (unsigned width = 1; width <= 8; width++) {
		uint64_t least = UINT64_C(1) << (8 * width - 8);
		uint64_t most = width == 8 ? UINT64_C(1) << 62 : (UINT64_C(1) << (8 * width)) - 1;
		for (unsigned at = 0; at < 3; at++) {
			for (unsigned i = 0; i < 2; i++) {
				/* The differences from row to row need at least as much. */
				uint64_t values[3] = { 0 };
				struct buffer out;
				values[at] = i ? most : least;
				buffer_init(&out);
				column_encode(&out, values, 3, false);
				assert_int_equal(out.bytes[0], width);
				assert_int_equal(out.size, 2 + 3 * width);
				buffer_release(&out);
			}
		}
	}
}

/* --- decoding --- */

static struct item *new_items(size_t rows)
{
	struct item *items = malloc(rows * sizeof(*items));
	assert_non_null(items);
	memset(items, 0xee, rows * sizeof(*items));
	return items;
}

static uint64_t field(const struct table_column *column, const struct item *item)
{
	uint64_t value = 0;
	memcpy(&value, (const char *)item + column->offset, column->size);
	return value;
}

/* The bytes beside the field are as they were. */
static void assert_others_untouched(const struct table_column *column, struct item item)
{
	struct item as_before;
	memset(&as_before, 0xee, sizeof(as_before));
	memset((char *)&item + column->offset, 0xee, column->size);
	assert_memory_equal(&item, &as_before, sizeof(item));
}

/* Encodes the numbers, which are those on disk, and decodes them into the field. */
static bool decode(const struct table_column *column, const uint64_t *values, size_t rows, bool prefer_delta,
		   struct item *items, struct column_range *range)
{
	struct buffer out;
	buffer_init(&out);
	column_encode(&out, values, rows, prefer_delta);
	struct cursor cursor = cursor_over(out.bytes, out.size);
	bool is_decoded = column_decode(&cursor, rows, column, (char *)items, sizeof(*items), range);
	assert_true(!is_decoded || cursor_left(&cursor) == 0);
	buffer_release(&out);
	return is_decoded;
}

static void test_limits_of_fields(void **state)
{
	static const uint64_t most_us = UINT64_MAX / 1000;
	static const struct {
		const struct table_column *column;
		uint64_t on_disk, in_memory;
		bool fits;
	} cases[] = {
		{ &byte, 255, 255, true },
		{ &byte, 256, 0, false },
		{ &flag, 1, 1, true },
		{ &flag, 2, 0, false },
		{ &word, UINT32_MAX, UINT32_MAX, true },
		{ &word, UINT64_C(1) << 32, 0, false },
		{ &id, 0, UINT32_MAX, true },
		{ &id, 1, 0, true },
		{ &id, UINT32_MAX, UINT32_MAX - 1, true },
		{ &id, UINT64_C(1) << 32, 0, false },
		{ &number, UINT64_MAX, UINT64_MAX, true },
		{ &bytes, UINT64_MAX, UINT64_MAX, true },
		{ &time, 0, 0, true },
		{ &time, 1, 1000, true },
		{ &time, most_us, most_us * 1000, true },
		{ &time, most_us + 1, 0, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct item *items = new_items(1);
		struct column_range range;
		assert_int_equal(decode(cases[i].column, &cases[i].on_disk, 1, false, items, &range), cases[i].fits);
		if (cases[i].fits) {
			assert_int_equal(field(cases[i].column, items), cases[i].in_memory);
			assert_int_equal(range.min, cases[i].on_disk);
			assert_int_equal(range.max, cases[i].on_disk);
		}
		assert_others_untouched(cases[i].column, *items);
		free(items);
	}
}

/* Random numbers of each width, in numbers of rows around those that are decoded at a time. */
static void test_round_trip(void **state)
{
	static const size_t rows_of[] = { 1, 2, 3, 1023, 1024, 1025, 2048, 2049, MOST_ROWS };
	static const struct table_column *const columns[] = { &byte, &word, &id, &number, &time };
	struct random random = { .state = 11 };
	uint64_t *values = malloc(MOST_ROWS * sizeof(*values));
	struct item *items = new_items(MOST_ROWS);
	(void)state;
	for (size_t i = 0; i < sizeof(rows_of) / sizeof(*rows_of); i++) {
		for (unsigned bits = 0; bits < 64; bits += 3) {
			size_t rows = rows_of[i];
			const struct table_column *column = columns[random_below(&random, 5)];
			unsigned most_bits = column == &time ? 54 : 8 * column->size;
			uint64_t mask =
				bits < most_bits ? (UINT64_C(1) << bits) - 1 : (UINT64_C(1) << (most_bits - 1)) - 1;
			struct column_range range, expected = { .min = UINT64_MAX };
			for (size_t row = 0; row < rows; row++) {
				values[row] = random_below(&random, UINT64_MAX) & mask;
				expected.min = values[row] < expected.min ? values[row] : expected.min;
				expected.max = values[row] > expected.max ? values[row] : expected.max;
			}
			assert_true(decode(column, values, rows, bits % 2, items, &range));
			assert_int_equal(range.min, expected.min);
			assert_int_equal(range.max, expected.max);
			for (size_t row = 0; row < rows; row++)
				assert_int_equal(column_get(column, (char *)&items[row]), values[row]);
			assert_others_untouched(column, items[rows - 1]);
			memset(items, 0xee, rows * sizeof(*items));
		}
	}
	free(items);
	free(values);
}

/* Numbers that grow from row to row, as times and ids do: sums go on where the rows before end. */
static void test_differences(void **state)
{
	uint64_t *values = malloc(MOST_ROWS * sizeof(*values));
	struct item *items = new_items(MOST_ROWS);
	struct column_range range;
	(void)state;
	for (size_t i = 0; i < MOST_ROWS; i++)
		values[i] = 1000000 + i * 300 + i % 7;
	assert_true(decode(&number, values, MOST_ROWS, false, items, &range));
	assert_int_equal(range.min, values[0]);
	assert_int_equal(range.max, values[MOST_ROWS - 1]);
	for (size_t i = 0; i < MOST_ROWS; i++)
		assert_int_equal(items[i].u64, values[i]);
	free(items);
	free(values);
}

/* A number that does not fit is found in any row. */
static void test_one_large_number(void **state)
{
	uint64_t *values = calloc(MOST_ROWS, sizeof(*values));
	struct item *items = new_items(MOST_ROWS);
	struct column_range range;
	(void)state;
	for (size_t row = 0; row < MOST_ROWS; row = row * 3 + 1) {
		values[row] = 256;
		assert_false(decode(&byte, values, MOST_ROWS, false, items, &range));
		values[row] = 255;
		assert_true(decode(&byte, values, MOST_ROWS, false, items, &range));
		values[row] = 0;
	}
	free(items);
	free(values);
}

static bool decode_bytes(const void *start, size_t size, size_t rows)
{
	struct item items[4];
	struct column_range range;
	struct cursor cursor = cursor_over(start, size);
	return column_decode(&cursor, rows, &number, (char *)items, sizeof(*items), &range);
}

static void test_no_columns(void **state)
{
	static const char whole[] = "\x82\xcd\x04\xd7\x04"
				    "\x58\x58\x00"
				    "\x02\x02\x00";
	static const char widest[] = "\x08\x00"
				     "\1\2\3\4\5\6\7\x08";
	(void)state;
	assert_true(decode_bytes(whole, sizeof(whole) - 1, 3));
	assert_false(decode_bytes(whole, sizeof(whole) - 1, 4));
	for (size_t size = 0; size < sizeof(whole) - 1; size++)
		assert_false(decode_bytes(whole, size, 3));
	assert_true(decode_bytes(widest, sizeof(widest) - 1, 1));
	/* Each form but the 18 defined forms. */
	for (unsigned form = 0; form < 256; form++) {
		uint8_t with[64] = { (uint8_t)form };
		assert_int_equal(decode_bytes(with, sizeof(with), 2), (form & 0x7f) <= 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_on_disk),  cmocka_unit_test(test_exact_bytes),
		cmocka_unit_test(test_widths),           cmocka_unit_test(test_limits_of_fields),
		cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_differences),
		cmocka_unit_test(test_one_large_number), cmocka_unit_test(test_no_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
