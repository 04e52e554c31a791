/* gmon.out in memory and on disk: values larger than its fields, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "gprof/gmon.h"
#include "support/alloc_fail.h"

enum { HEADER_BYTES = 20, HISTOGRAM_BYTES = 41, ARC_BYTES = 21, BLOCK_BYTES = 16 };

/* --- files made by hand --- */

static void put(struct buffer *file, uint64_t value, size_t size)
{
	buffer_append(file, &value, size);
}

static void put_header(struct buffer *file, uint32_t version)
{
	static const uint8_t spare[12];
	buffer_append_string(file, "gmon");
	put(file, version, 4);
	buffer_append(file, spare, sizeof(spare));
}

static void put_histogram(struct buffer *file, uint64_t low, uint64_t high, uint32_t rate, uint32_t count)
{
	static const char dimension[15] = "seconds";
	put(file, 0, 1);
	put(file, low, 8);
	put(file, high, 8);
	put(file, count, 4);
	put(file, rate, 4);
	buffer_append(file, dimension, sizeof(dimension));
	put(file, 's', 1);
}

static void put_arc(struct buffer *file, uint64_t from, uint64_t self, uint32_t count)
{
	put(file, 1, 1);
	put(file, from, 8);
	put(file, self, 8);
	put(file, count, 4);
}

/* Writes the number of pairs in `size` bytes, then the (address, count) pairs, up to one with address 0. */
static void put_blocks(struct buffer *file, size_t size, const uint64_t (*pairs)[2])
{
	uint64_t count = 0;
	while (pairs[count][0])
		count++;
	put(file, 2, 1);
	put(file, count, size);
	buffer_append(file, pairs, count * sizeof(*pairs));
}

static int read_bytes(struct gmon *gmon, const void *bytes, size_t size, struct error *error)
{
	FILE *in = size ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "re");
	assert_non_null(in);
	int code = gmon_read(gmon, in, "it", error);
	fclose(in);
	return code;
}

static int read_buffer(struct gmon *gmon, struct buffer *file)
{
	struct error error = { 0 };
	int code = read_bytes(gmon, file->bytes, file->size, &error);
	assert_int_equal(code, error.code);
	buffer_release(file);
	return code;
}

/* Reading these bytes fails, with `word` in the message, and leaves the existing content alone. */
static void assert_refused(struct buffer *file, int code, const char *word)
{
	struct gmon gmon;
	struct error error = { 0 };
	gmon_init(&gmon);
	assert_int_equal(gmon_add_arc(&gmon, 1, 2, 3), 0);
	assert_int_equal(read_bytes(&gmon, file->bytes, file->size, &error), code);
	if (!strstr(error.message, word))
		fail_msg("'%s' is not in '%s'", word, error.message);
	assert_int_equal(gmon.arc_count, 1);
	assert_int_equal(gmon.arcs[0].count, 3);
	assert_int_equal(gmon.histogram_count + gmon.block_count, 0);
	gmon_release(&gmon);
	buffer_release(file);
}

static int write_to(const struct gmon *gmon, FILE *out, struct error *error)
{
	struct sink sink;
	sink_init(&sink, out);
	return gmon_write(gmon, &sink, error);
}

static struct gmon written_and_read(const struct gmon *gmon, size_t *length)
{
	char *bytes = NULL;
	size_t size = 0;
	struct error error = { 0 };
	struct gmon again;
	FILE *out = open_memstream(&bytes, &size);
	assert_int_equal(write_to(gmon, out, &error), 0);
	fclose(out);
	gmon_init(&again);
	if (read_bytes(&again, bytes, size, &error) < 0)
		fail_msg("%s", error.message);
	free(bytes);
	if (length)
		*length = size;
	return again;
}

/* --- reading --- */

static void test_sums(void **state)
{
	(void)state;
	struct buffer file;
	struct gmon gmon;
	gmon_init(&gmon);
	for (int i = 0; i < 2; i++) {
		buffer_init(&file);
		put_header(&file, 1);
		put_arc(&file, 0x20, 0x10, UINT32_MAX);
		put_arc(&file, 0x10, 0x20, 5);
		put_arc(&file, 0x20, 0x10, UINT32_MAX);
		put_histogram(&file, 0x10, 0x14, 100, 2);
		put(&file, 0xffff0001, 4);
		put_histogram(&file, 0x10, 0x14, 100, 2);
		put(&file, 0xffff0001, 4);
		put_histogram(&file, 0x14, 0x18, 100, 1);
		put(&file, 9, 2);
		assert_int_equal(read_buffer(&gmon, &file), 0);
	}
	assert_int_equal(gmon.arc_count, 2);
	assert_int_equal(gmon.arcs[0].from, 0x10);
	assert_int_equal(gmon.arcs[0].count, 10);
	assert_int_equal(gmon.arcs[1].count, 4 * (uint64_t)UINT32_MAX);
	assert_int_equal(gmon.histogram_count, 2);
	assert_int_equal(gmon.histograms[0].bins[0], 4);
	assert_int_equal(gmon.histograms[0].bins[1], 4 * 0xffff);
	assert_int_equal(gmon.histograms[1].bins[0], 18);
	assert_string_equal(gmon.histograms[1].dimension, "seconds");
	assert_int_equal(gmon.histograms[1].abbreviation, 's');
	gmon_release(&gmon);
}

/* The C library writes the number of blocks in 8 bytes, gprof in 4. */
static void test_block_widths(void **state)
{
	(void)state;
	static const uint64_t some[][2] = { { 0x1139, 7 }, { 0x1150, UINT64_C(1) << 40 }, { 0, 0 } },
			      none[][2] = { { 0, 0 } };
	for (size_t size = 4; size <= 8; size += 4) {
		struct buffer file;
		struct gmon gmon;
		gmon_init(&gmon);
		buffer_init(&file);
		put_header(&file, 1);
		put_blocks(&file, size, none);
		put_histogram(&file, 0x1000, 0x1004, 100, 2);
		put(&file, 0x00020001, 4);
		put_blocks(&file, size, some);
		put_blocks(&file, size, some);
		put_arc(&file, 1, 2, 3);
		put_blocks(&file, size, none);
		put_blocks(&file, size, some);
		assert_int_equal(read_buffer(&gmon, &file), 0);
		assert_int_equal(gmon.block_count, 2);
		assert_int_equal(gmon.blocks[0].address, 0x1139);
		assert_int_equal(gmon.blocks[0].count, 21);
		assert_int_equal(gmon.blocks[1].count, UINT64_C(3) << 40);
		assert_int_equal(gmon.arc_count, 1);
		assert_int_equal(gmon.histogram_count, 1);
		gmon_release(&gmon);
	}
}

static void test_foreign(void **state)
{
	(void)state;
	struct buffer file;
	buffer_init(&file);
	assert_refused(&file, ERROR_FORMAT, "not a gmon.out");
	buffer_append_string(&file, "\x7f"
				    "ELF and so on");
	assert_refused(&file, ERROR_FORMAT, "not a gmon.out");
	buffer_append_string(&file, "gmon");
	assert_refused(&file, ERROR_TRUNCATED, "header");
	put_header(&file, 2);
	assert_refused(&file, ERROR_VERSION, "version 2");
	put_header(&file, 0x01000000);
	assert_refused(&file, ERROR_FORMAT, "byte order");
	put_header(&file, 1);
	put_arc(&file, 4, 5, 6);
	put(&file, 17, 1);
	assert_refused(&file, ERROR_CORRUPT, "byte 41");
}

/* Every prefix of a file either consists of complete records or is reported as truncated. */
static void test_cut(void **state)
{
	(void)state;
	static const uint64_t pairs[][2] = { { 0x1139, 7 }, { 0, 0 } };
	static const size_t whole[] = { HEADER_BYTES, HEADER_BYTES + ARC_BYTES,
					HEADER_BYTES + ARC_BYTES + HISTOGRAM_BYTES + 4,
					HEADER_BYTES + ARC_BYTES + HISTOGRAM_BYTES + 4 + 5 + BLOCK_BYTES };
	struct buffer file;
	buffer_init(&file);
	put_header(&file, 1);
	put_arc(&file, 4, 5, 6);
	put_histogram(&file, 0x10, 0x14, 100, 2);
	put(&file, 0x00020001, 4);
	put_blocks(&file, 4, pairs);
	assert_int_equal(file.size, whole[3]);
	for (size_t size = 4; size <= file.size; size++) {
		struct gmon gmon;
		struct error error = { 0 };
		gmon_init(&gmon);
		bool is_whole = false;
		for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
			is_whole |= size == whole[i];
		assert_int_equal(read_bytes(&gmon, file.bytes, size, &error), is_whole ? 0 : ERROR_TRUNCATED);
		gmon_release(&gmon);
	}
	buffer_release(&file);
}

static void test_hostile(void **state)
{
	(void)state;
	static const uint64_t many[][2] = { { 16, UINT64_MAX }, { 16, 1 }, { 0, 0 } };
	struct buffer file;
	buffer_init(&file);
	put_header(&file, 1);
	put_histogram(&file, 0, UINT64_MAX, 100, UINT32_MAX);
	assert_refused(&file, ERROR_TRUNCATED, "byte 20");
	put_header(&file, 1);
	put_histogram(&file, 0x20, 0x10, 100, 1);
	put(&file, 0, 2);
	assert_refused(&file, ERROR_CORRUPT, "before it begins");
	put_header(&file, 1);
	put(&file, 2, 1);
	put(&file, UINT32_MAX, 4);
	assert_refused(&file, ERROR_TRUNCATED, "byte 20");
	put_header(&file, 1);
	put_blocks(&file, 4, many);
	assert_refused(&file, ERROR_LIMIT, "2^64");
	for (uint32_t change = 0; change < 3; change++) { /* the range, the rate, the number of bins */
		put_header(&file, 1);
		put_histogram(&file, 0x10, 0x20, 100, 4);
		put(&file, 0, 8);
		put_histogram(&file, 0x10 + 8 * (change == 0), 0x28, 100 + (change == 1), 4);
		put(&file, 0, 8);
		assert_refused(&file, ERROR_CORRUPT, "byte 69");
	}
}

/* Histograms that gprof refuses, and names of units that cannot be printed. */
static void test_odd_histograms(void **state)
{
	(void)state;
	enum { DIMENSION = HEADER_BYTES + 1 + 8 + 8 + 4 + 4, ABBREVIATION = DIMENSION + 15 };
	static const struct {
		size_t at; /* a byte of the file that is changed */
		char byte;
		const char *word; /* NULL: it can be read */
	} cases[] = {
		{ HEADER_BYTES + 1 + 8, 0x11, "a single byte" },
		{ HEADER_BYTES + 1 + 8, 0x12, NULL },
		{ DIMENSION, '\033', "cannot be printed" },
		{ DIMENSION + 3, '\x9b', "cannot be printed" },
		{ DIMENSION + 14, '\033', NULL }, /* after the end of the name */
		{ ABBREVIATION, '\a', "cannot be printed" },
		{ ABBREVIATION, '\0', NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer file;
		struct gmon gmon;
		buffer_init(&file);
		put_header(&file, 1);
		put_histogram(&file, 0x10, 0x14, 100, 1);
		put(&file, 7, 2);
		file.bytes[cases[i].at] = (uint8_t)cases[i].byte;
		if (cases[i].word) {
			assert_refused(&file, ERROR_CORRUPT, cases[i].word);
			continue;
		}
		gmon_init(&gmon);
		assert_int_equal(read_buffer(&gmon, &file), 0);
		gmon_release(&gmon);
	}
}

/* So many histograms that no operation may scan all of them. Their addresses are in no order, and they keep the
 * order of the file. */
static void test_many(void **state)
{
	(void)state;
	enum { COUNT = 300000, STEP = 7919, WIDTH = 4 };
	struct buffer file;
	struct gmon gmon;
	buffer_init(&file);
	put_header(&file, 1);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t low = 0x1000 + i * STEP % COUNT * WIDTH;
		put_histogram(&file, low, low + WIDTH, 100, 1);
		put(&file, i % 100, 2);
	}
	gmon_init(&gmon);
	assert_int_equal(read_buffer(&gmon, &file), 0);
	assert_int_equal(gmon.histogram_count, COUNT);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t low = 0x1000 + i * STEP % COUNT * WIDTH;
		assert_int_equal(gmon.histograms[i].low, low);
		assert_int_equal(gmon_find_histogram(&gmon, low + WIDTH - 1, low + WIDTH), i);
		assert_int_equal(gmon_add_sample(&gmon, low, 1), 0);
		assert_int_equal(gmon.histograms[i].bins[0], i % 100 + 1);
	}
	assert_int_equal(gmon_find_histogram(&gmon, 0, 0x1000), COUNT);
	assert_int_equal(gmon_add_sample(&gmon, 0x1000 + COUNT * WIDTH, 1), ERROR_NOT_FOUND);
	struct gmon_histogram shape = gmon.histograms[5];
	assert_int_equal(gmon_add_histogram(&gmon, &shape), 5);
	shape.high++;
	assert_int_equal(gmon_add_histogram(&gmon, &shape), ERROR_CORRUPT);
	shape = gmon.histograms[5];
	shape.low--;
	assert_int_equal(gmon_add_histogram(&gmon, &shape), ERROR_CORRUPT);
	gmon_release(&gmon);
}

/* gmon_add_histogram finds an overlap in whatever order the histograms come; a scan of all of them is the
 * reference. */
static void test_overlaps(void **state)
{
	(void)state;
	enum { ROUNDS = 200, TRIES = 60, RANGE = 400, WIDEST = 12 };
	unsigned seed = 1;
	for (int round = 0; round < ROUNDS; round++) {
		struct gmon gmon;
		gmon_init(&gmon);
		for (int i = 0; i < TRIES; i++) {
			seed = seed * 1103515245 + 12345;
			struct gmon_histogram shape = { .low = 1 + (seed >> 16) % RANGE, .bin_count = 1, .rate = 1 };
			shape.high = shape.low + GMON_UNIT_BYTES + (seed >> 8) % WIDEST;
			int64_t expected = (int64_t)gmon.histogram_count;
			for (size_t j = 0; j < gmon.histogram_count; j++) {
				const struct gmon_histogram *other = &gmon.histograms[j];
				if (other->low == shape.low && other->high == shape.high)
					expected = (int64_t)j;
				else if (other->low < shape.high && shape.low < other->high)
					expected = ERROR_CORRUPT;
			}
			assert_int_equal(gmon_add_histogram(&gmon, &shape), expected);
		}
		gmon_release(&gmon);
	}
}

/* A second file that is not compatible with the first leaves the first unchanged. */
static void test_misfit(void **state)
{
	(void)state;
	struct gmon gmon;
	struct error error = { 0 };
	struct buffer file;
	gmon_init(&gmon);
	buffer_init(&file);
	put_header(&file, 1);
	put_histogram(&file, 0x10, 0x20, 100, 4);
	put(&file, 0x0001000200030004, 8);
	assert_int_equal(read_buffer(&gmon, &file), 0);
	put_header(&file, 1);
	put_arc(&file, 1, 2, 3);
	put_histogram(&file, 0x10, 0x24, 100, 4);
	put(&file, 0, 8);
	assert_int_equal(read_bytes(&gmon, file.bytes, file.size, &error), ERROR_CORRUPT);
	assert_non_null(strstr(error.message, "another program or build"));
	assert_int_equal(gmon.arc_count, 0);
	assert_int_equal(gmon.histogram_count, 1);
	assert_int_equal(gmon.histograms[0].bins[0], 4);
	gmon_release(&gmon);
	buffer_release(&file);
}

/* --- writing --- */

static void test_split(void **state)
{
	(void)state;
	static const uint64_t counts[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 33) + 5 };
	struct gmon_histogram shape = {
		.low = 0x1000, .high = 0x1006, .rate = 1000, .bin_count = 3, .dimension = "seconds"
	};
	struct gmon gmon;
	gmon_init(&gmon);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(gmon_add_arc(&gmon, i, i, counts[i]), 0);
	assert_int_equal(gmon_add_block(&gmon, 0x1000, UINT64_MAX), 0);
	assert_int_equal(gmon_add_histogram(&gmon, &shape), 0);
	assert_int_equal(gmon_add_sample(&gmon, 0x1001, 65535), 0);
	assert_int_equal(gmon_add_sample(&gmon, 0x1002, 65536), 0);
	assert_int_equal(gmon_add_sample(&gmon, 0x1005, 200000), 0);
	assert_int_equal(gmon_add_sample(&gmon, 0x1006, 1), ERROR_NOT_FOUND);
	size_t length;
	struct gmon again = written_and_read(&gmon, &length);
	/* 200000 needs four records of 16-bit bins; the arcs need 1, 1, 1, 2 and 3 records. */
	assert_int_equal(length, HEADER_BYTES + 4 * (HISTOGRAM_BYTES + 3 * 2) + 8 * ARC_BYTES + 5 + BLOCK_BYTES);
	assert_int_equal(again.arc_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(again.arcs[i].count, counts[i]);
	assert_int_equal(again.histogram_count, 1);
	assert_int_equal(again.histograms[0].bins[0], 65535);
	assert_int_equal(again.histograms[0].bins[1], 65536);
	assert_int_equal(again.histograms[0].bins[2], 200000);
	assert_int_equal(again.blocks[0].count, UINT64_MAX);
	gmon_release(&again);
	gmon_release(&gmon);
}

/* To repeat all of a large histogram would make the file too long: only the stretches with samples are repeated. */
static void test_sparse(void **state)
{
	(void)state;
	enum { BINS = 1 << 20 };
	struct gmon_histogram shape = { .low = 0x1000, .high = 0x1000 + 2 * BINS, .rate = 1000, .bin_count = BINS };
	struct gmon gmon;
	gmon_init(&gmon);
	assert_int_equal(gmon_add_histogram(&gmon, &shape), 0);
	assert_int_equal(gmon_add_sample(&gmon, shape.low, 100 * UINT16_MAX), 0);
	assert_int_equal(gmon_add_sample(&gmon, shape.high - 1, 3), 0);
	size_t length;
	struct gmon again = written_and_read(&gmon, &length);
	assert_int_equal(length, HEADER_BYTES + 101 * (HISTOGRAM_BYTES + 2 * GMON_SPARSE_BINS));
	assert_int_equal(again.histogram_count, 2);
	assert_int_equal(again.histograms[0].bins[0], 100 * UINT16_MAX);
	assert_int_equal(again.histograms[0].high, shape.low + 2 * GMON_SPARSE_BINS);
	assert_int_equal(again.histograms[1].high, shape.high);
	assert_int_equal(again.histograms[1].bins[GMON_SPARSE_BINS - 1], 3);
	gmon_release(&again);
	gmon_release(&gmon);
}

/* A last bin narrower than a unit is joined to the stretch before it: alone, it could not be read again. */
static void test_sparse_bytes(void **state)
{
	(void)state;
	enum { BINS = 256 * GMON_SPARSE_BINS + 1 };
	struct gmon_histogram shape = { .low = 0x1000, .high = 0x1000 + BINS, .rate = 1000, .bin_count = BINS };
	struct gmon gmon;
	gmon_init(&gmon);
	assert_int_equal(gmon_add_histogram(&gmon, &shape), 0);
	assert_int_equal(gmon_add_sample(&gmon, shape.low, 100 * UINT16_MAX), 0);
	assert_int_equal(gmon_add_sample(&gmon, shape.high - 1, 3), 0);
	struct gmon again = written_and_read(&gmon, NULL);
	assert_int_equal(again.histogram_count, 2);
	assert_int_equal(again.histograms[1].high, shape.high);
	assert_int_equal(again.histograms[1].bins[GMON_SPARSE_BINS], 3);
	gmon_release(&again);
	gmon_release(&gmon);
}

static void test_unwritable(void **state)
{
	(void)state;
	struct gmon gmon;
	struct error error = { 0 };
	gmon_init(&gmon);
	FILE *full = fopen("/dev/full", "we");
	assert_int_equal(write_to(&gmon, full, &error), ERROR_NO_SPACE);
	fclose(full);
	assert_int_equal(gmon_add_arc(&gmon, 1, 2, UINT64_MAX), 0);
	FILE *null = fopen("/dev/null", "we");
	assert_int_equal(write_to(&gmon, null, &error), ERROR_LIMIT);
	fclose(null);
	gmon_release(&gmon);
}

static void try_read(const struct buffer *file)
{
	struct gmon gmon;
	struct error error = { 0 };
	gmon_init(&gmon);
	for (int i = 0; i < 2; i++) {
		int code = read_bytes(&gmon, file->bytes, file->size, &error);
		assert_true(code == 0 || code == ERROR_MEMORY);
		assert_int_equal(code, error.code);
		if (code < 0)
			break;
	}
	gmon_release(&gmon);
}

static void test_no_memory(void **state)
{
	(void)state;
	static const uint64_t pairs[][2] = { { 0x1139, 7 }, { 0, 0 } };
	struct buffer file;
	buffer_init(&file);
	put_header(&file, 1);
	put_arc(&file, 4, 5, 6);
	put_histogram(&file, 0x10, 0x14, 100, 2);
	put(&file, 0x00020001, 4);
	put_blocks(&file, 8, pairs);
	ALLOC_FAIL_EACH(try_read(&file));
	buffer_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),           cmocka_unit_test(test_block_widths),
		cmocka_unit_test(test_foreign),        cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),        cmocka_unit_test(test_misfit),
		cmocka_unit_test(test_split),          cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_odd_histograms), cmocka_unit_test(test_many),
		cmocka_unit_test(test_overlaps),       cmocka_unit_test(test_sparse_bytes),
		cmocka_unit_test(test_unwritable),     cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
