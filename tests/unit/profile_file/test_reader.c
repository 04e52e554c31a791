/* The reader: foreign and newer files, and files made by hand, block by block, most of which it must refuse. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "profile/findings.h"
#include "profile_file/block.h"
#include "profile_file/column.h"
#include "profile_file/reader.h"
#include "profile_file/source.h"
#include "support/sample_profile.h"

static void assert_refused(const void *bytes, size_t size, int code, const char *words)
{
	struct error error = { 0 };
	assert_null(reader_load_bytes(bytes, size, "it", 0, &error));
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.message, words));
}

/* --- foreign files --- */

static void test_foreign(void **state)
{
	(void)state;
	assert_refused("", 0, ERROR_FORMAT, "empty");
	assert_refused(NULL, 0, ERROR_FORMAT, "empty");
	assert_refused("main;a 12\n", 10, ERROR_FORMAT, "not a cpprof profile");
	assert_refused("\x89"
		       "CPP\n\x1a\n\1\0\0\0\0\0\0\0",
		       16, ERROR_CORRUPT, "text");
	struct error error;
	assert_null(reader_load("/tmp", 0, &error));
	assert_int_equal(error.code, ERROR_SYSTEM);
	assert_string_equal(error.message, "cannot read '/tmp': Is a directory");
	assert_null(reader_load("/dev/zero", 0, &error));
	assert_int_equal(error.code, ERROR_UNSUPPORTED);
	assert_null(reader_load("/nonexistent/file", 0, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static void test_newer_version(void **state)
{
	(void)state;
	struct format_file_header header = format_file_header_make();
	struct error error;
	header.minor++; /* a later minor version may hold more, but nothing that a reader must understand */
	header.check = (uint32_t)XXH64(&header, 12, 0);
	struct profile *profile = reader_load_bytes(&header, sizeof(header), "it", 0, &error);
	assert_non_null(profile);
	profile_free(profile);
	header.major++;
	header.check = (uint32_t)XXH64(&header, 12, 0);
	assert_refused(&header, sizeof(header), ERROR_VERSION, "newer cpprof wrote it, in format ");
}

/* The first bytes decide whether a file is a profile, however many follow. */
static void test_first_bytes(void **state)
{
	(void)state;
	static const struct {
		const char *start;
		size_t bytes;
	} files[] = {
		{ "PERFILE2", 8 },
		{ "{", 1 },
		{ "\x89"
		  "CPQ",
		  4 },
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		for (size_t size = 1; size < 40; size++) {
			char bytes[40];
			struct error error = { 0 };
			memset(bytes, 0xee, sizeof(bytes));
			memcpy(bytes, files[i].start, files[i].bytes);
			assert_null(reader_load_bytes(bytes, size, "it", 0, &error));
			assert_false(reader_is_profile(bytes, size));
			if (bytes[0] == FORMAT_MAGIC[0] && size < files[i].bytes) {
				assert_int_equal(error.code, ERROR_TRUNCATED);
				assert_true(reader_begins_profile(bytes, size));
				continue;
			}
			assert_int_equal(error.code, ERROR_FORMAT);
			assert_string_equal(error.message, "'it' is not a cpprof profile");
			assert_false(reader_begins_profile(bytes, size));
		}
	}
	for (size_t size = 0; size < 12; size++)
		assert_int_equal(reader_is_profile("\x89"
						   "CPP\r\n\x1a\n1234",
						   size),
				 size >= 8);
	/* Damage as by a transfer as text is recognised from the fifth byte on. */
	for (size_t size = 1; size < 16; size++) {
		struct error error = { 0 };
		assert_null(reader_load_bytes("\x89"
					      "CPP\n\x1a\n123456789",
					      size, "it", 0, &error));
		assert_int_equal(error.code, size < 5 ? ERROR_TRUNCATED : ERROR_CORRUPT);
		assert_true(reader_begins_profile("\x89"
						  "CPP\n\x1a\n",
						  size < 7 ? size : 7));
	}
}

/* --- blocks made by hand --- */

struct hand_made {
	struct buffer file;
	struct packer packer;
};

static void begin(struct hand_made *made)
{
	struct format_file_header header = format_file_header_make();
	buffer_init(&made->file);
	assert_int_equal(packer_init(&made->packer, true), 0);
	buffer_append(&made->file, &header, sizeof(header));
}

static void add_block(struct hand_made *made, unsigned type, size_t rows, uint64_t first)
{
	assert_int_equal(packer_pack(&made->packer, type, rows, first), 0);
	buffer_append(&made->file, made->packer.whole.bytes, made->packer.whole.size);
}

/* Adds `count` columns of `rows` rows. All rows of a column have the same value. */
static void add_columns(struct hand_made *made, size_t rows, const uint64_t *values, size_t count)
{
	uint64_t *column = calloc(rows, sizeof(*column));
	assert_non_null(column);
	for (size_t c = 0; c < count; c++) {
		for (size_t i = 0; i < rows; i++)
			column[i] = values[c];
		column_encode(&made->packer.raw, column, rows, false);
	}
	free(column);
}

static void end(struct hand_made *made)
{
	buffer_release(&made->file);
	packer_release(&made->packer);
}

/* A block of more than FORMAT_RAW_MAX bytes is not made, and the packer can make the next one. */
static void largest_blocks(void **state)
{
	(void)state;
	struct packer packer;
	assert_int_equal(packer_init(&packer, false), 0);
	for (size_t more = 0; more <= 1; more++) {
		uint8_t *bytes = buffer_extend(&packer.raw, FORMAT_RAW_MAX + more);
		assert_non_null(bytes);
		memset(bytes, 1, FORMAT_RAW_MAX + more);
		assert_int_equal(packer_pack(&packer, BLOCK_HITS, 1, 0), more ? ERROR_LIMIT : 0);
		assert_int_equal(packer.raw.size, 0);
	}
	buffer_append_byte(&packer.raw, 1);
	assert_int_equal(packer_pack(&packer, BLOCK_HITS, 1, 0), 0);
	packer_release(&packer);
}

/* The reader must refuse the file made so far. Then starts a new file. */
static void assert_made_refused(struct hand_made *made)
{
	assert_refused(made->file.bytes, made->file.size, ERROR_CORRUPT, "damaged");
	end(made);
	begin(made);
}

static void add_one_hit(struct hand_made *made, uint64_t thread, uint64_t node, uint64_t resource, uint64_t count)
{
	add_columns(made, 1, (uint64_t[]){ 0, 0, 0, 0, 0, 0, 1, 0, 0 }, 9);
	add_block(made, BLOCK_RESOURCES, 1, 0);
	add_columns(made, 1, (uint64_t[]){ 5, thread, node, resource, count }, 5);
	add_block(made, BLOCK_HITS, 1, 0);
}

/* Hits in several blocks, which several threads read: `bad` of them has a node that does not exist. */
static struct profile *load_blocks(unsigned blocks, unsigned bad, size_t rows, uint64_t count, struct error *error)
{
	struct hand_made made;
	begin(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0, 0, 0, 1, 0, 0 }, 9);
	add_block(&made, BLOCK_RESOURCES, 1, 0);
	for (unsigned i = 0; i < blocks; i++) {
		add_columns(&made, rows, (uint64_t[]){ 5 + i, 0, i == bad, 0, count }, 5);
		add_block(&made, BLOCK_HITS, rows, i * rows);
	}
	struct profile *profile = reader_load_bytes(made.file.bytes, made.file.size, "it", 0, error);
	end(&made);
	return profile;
}

/* The error is found whichever thread reads its block. */
static void test_damage_in_any_block(void **state)
{
	enum { BLOCKS = 24, ROUNDS = 10, NONE = BLOCKS };
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned bad = 0; bad <= NONE; bad++) {
			struct error error = { 0 };
			struct profile *profile = load_blocks(BLOCKS, bad, 1, 1, &error);
			assert_int_equal(profile != NULL, bad == NONE);
			assert_int_equal(error.code, bad == NONE ? 0 : ERROR_CORRUPT);
			if (profile) {
				assert_int_equal(profile->hit_count, BLOCKS);
				assert_int_equal(profile->end_ns, (5 + BLOCKS - 1) * 1000);
				for (unsigned i = 0; i < BLOCKS; i++)
					assert_int_equal(profile->hits[i].time_ns, (5 + i) * 1000);
			}
			profile_free(profile);
		}
	}
}

/* The hits of all threads together are limited. */
static void test_most_hits_of_all_threads(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		for (unsigned blocks = 8; blocks <= 12; blocks += 4) {
			struct error error = { 0 };
			uint64_t count = PROFILE_HITS_MOST / 8 / FORMAT_ROWS_MAX;
			struct profile *profile = load_blocks(blocks, blocks, FORMAT_ROWS_MAX, count, &error);
			assert_int_equal(profile != NULL, blocks == 8);
			assert_int_equal(error.code, blocks == 8 ? 0 : ERROR_CORRUPT);
			profile_free(profile);
		}
	}
}

/* The file becomes shorter while it is read. The number of an earlier error has no meaning. */
static void test_file_that_shrinks(void **state)
{
	(void)state;
	char path[] = "/tmp/cpprof-reader-XXXXXX";
	int fd = mkstemp(path), code = 0;
	struct source source;
	struct buffer buffer;
	struct error error = { 0 };
	assert_true(fd >= 0);
	buffer_init(&buffer);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	assert_int_equal(source_open(&source, path, &error), 0);
	assert_int_equal(source.size, 10);
	assert_memory_equal(source_read(&source, 2, 8, &buffer, &code), "23456789", 8);
	assert_non_null(source_read(&source, 10, 0, &buffer, &code));
	assert_int_equal(ftruncate(fd, 5), 0);
	errno = EINTR;
	assert_null(source_read(&source, 2, 8, &buffer, &code));
	assert_int_equal(code, ERROR_TRUNCATED);
	assert_memory_equal(source_read(&source, 2, 3, &buffer, &code), "234", 3);
	source_release(&source);
	buffer_release(&buffer);
	close(fd);
	unlink(path);
}

/* Constant columns take a few bytes for 65,536 rows, and zstd takes a few for megabytes. */
static void test_memory_that_small_blocks_need(void **state)
{
	enum { BLOCKS = 8, PROCESS_BYTES = BLOCKS * FORMAT_ROWS_MAX * sizeof(struct profile_process) };
	struct hand_made made;
	(void)state;
	begin(&made);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		add_columns(&made, FORMAT_ROWS_MAX, (uint64_t[]){ 0, 0, 0, 0, 0 }, 5);
		add_block(&made, BLOCK_PROCESSES, FORMAT_ROWS_MAX, i * FORMAT_ROWS_MAX);
	}
	for (size_t i = 0; i < 2; i++) {
		uint64_t memory = PROCESS_BYTES - i;
		struct error error = { 0 };
		struct profile *profile = reader_load_bytes(made.file.bytes, made.file.size, "it", memory, &error);
		assert_int_equal(profile != NULL, i == 0);
		assert_int_equal(error.code, i == 0 ? 0 : ERROR_LIMIT);
		if (profile)
			assert_int_equal(profile->process_capacity, BLOCKS * FORMAT_ROWS_MAX);
		else
			assert_string_equal(error.message,
					    "cannot read 'it': its tables take 20 MiB of memory, more than the "
					    "limit of 20 MiB (--memory SIZE raises it)");
		profile_free(profile);
	}
	end(&made);

	static const uint8_t zeros[1 << 20];
	struct error error = { 0 };
	begin(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0, 0 }, 5);
	buffer_append(&made.packer.raw, zeros, sizeof(zeros));
	add_block(&made, BLOCK_PROCESSES, 1, 0);
	assert_true(made.file.size < 1000);
	assert_null(reader_load_bytes(made.file.bytes, made.file.size, "it", sizeof(zeros), &error));
	assert_int_equal(error.code, ERROR_LIMIT);
	end(&made);
}

static void test_unknown_blocks_are_skipped(void **state)
{
	(void)state;
	struct hand_made made;
	begin(&made);
	buffer_append_string(&made.packer.raw, "of a later version");
	add_block(&made, 999, 12345678, 77);
	add_one_hit(&made, 0, 0, 0, 3);
	/* Columns of a later version follow the known columns. */
	add_columns(&made, 1, (uint64_t[]){ 1, 2, 3, 4, 0, 17, 18 }, 7);
	add_block(&made, BLOCK_TOTALS, 1, 0);
	add_block(&made, BLOCK_END, 0, 0);
	buffer_append_string(&made.file, "\n");
	struct error error;
	struct profile *profile = reader_load_bytes(made.file.bytes, made.file.size, "it", 0, &error);
	assert_non_null(profile);
	assert_int_equal(finding_amount(profile, FINDING_BLOCKS_SKIPPED), 1);
	assert_int_equal(finding_amount(profile, FINDING_BYTES_SKIPPED), 1);
	assert_int_equal(profile->hit_count, 1);
	assert_int_equal(profile->hits[0].thread, PROFILE_NONE);
	assert_int_equal(profile->lost, 4);
	assert_true(profile->ended);
	profile_free(profile);
	end(&made);
}

static void test_hostile_ids(void **state)
{
	(void)state;
	static const uint64_t bad[][4] = {
		{ 1, 0, 0, 1 },                     /* no such thread */
		{ 0, 1, 0, 1 },                     /* no such node */
		{ 0, 0, 1, 1 },                     /* no such resource */
		{ 0, 0, 0, 0 },                     /* no hits */
		{ 0, 0, 0, PROFILE_HITS_MOST + 1 }, /* more than a profile can have */
		{ 1ull << 32, 0, 0, 1 },
		{ 0, UINT64_MAX, 0, 1 },
	};
	struct hand_made made;
	begin(&made);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		add_one_hit(&made, bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
		assert_made_refused(&made);
	}
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0, 0, 0, 1, 0, 0 }, 9);
	add_block(&made, BLOCK_RESOURCES, 1, 0);
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0, 7, 1 }, 6); /* two samples with equal shares of 7 hits */
	add_block(&made, BLOCK_HITS, 1, 0);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 0 }, 2); /* a node without a location */
	add_block(&made, BLOCK_NODES, 1, 1);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 1, 0, 0, 0, 0 }, 5); /* a thread without a process */
	add_block(&made, BLOCK_THREADS, 1, 0);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 2, 0, 0 }, 4); /* a location whose frames do not exist */
	add_block(&made, BLOCK_LOCATION_FRAMES, 1, 0);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0, 2 }, 5); /* symbolized: 2 */
	add_block(&made, BLOCK_TOTALS, 1, 0);
	assert_made_refused(&made);
	end(&made);
}

static void test_hostile_touches(void **state)
{
	(void)state;
	static const uint64_t bad[][7] = {
		{ 0, 1, 0, 0, 1, 0, 0 }, /* no such thread */
		{ 0, 0, 1, 0, 1, 0, 0 }, /* no such node */
		{ 0, 0, 0, 1, 1, 0, 0 }, /* no such resource */
		{ 0, 0, 0, 0, 0, 0, 0 }, /* no hits */
		{ 0, 0, 0, 0, 1, 0, 1 }, /* no such string */
	};
	struct hand_made made;
	begin(&made);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		add_one_hit(&made, 0, 0, 0, 1);
		add_columns(&made, 1, bad[i], 7);
		add_block(&made, BLOCK_TOUCHES, 1, 0);
		assert_made_refused(&made);
	}
	add_columns(&made, 1, (uint64_t[]){ 1, 0, 0, 0, 0, 99 }, 6); /* a control group without a string */
	add_block(&made, BLOCK_PROCESSES, 1, 0);
	assert_made_refused(&made);
	end(&made);
}

/* Adds the labels "a" = "b" and "b" = "", and `count` sets of them. */
static void add_labels(struct hand_made *made, const uint64_t (*sets)[2], size_t count)
{
	add_columns(made, 2, (uint64_t[]){ 1 }, 1);
	buffer_append_string(&made->packer.raw, "ab");
	add_block(made, BLOCK_STRINGS, 2, 1);
	add_columns(made, 1, (uint64_t[]){ 1, 2 }, 2);
	add_block(made, BLOCK_LABELS, 1, 0);
	add_columns(made, 1, (uint64_t[]){ 2, 0 }, 2);
	add_block(made, BLOCK_LABELS, 1, 1);
	for (size_t i = 0; i < count; i++) {
		add_columns(made, 1, sets[i], 2);
		add_block(made, BLOCK_LABEL_SETS, 1, 1 + i);
	}
}

static void add_hit_labels(struct hand_made *made, uint64_t first, uint64_t set)
{
	add_columns(made, 1, &set, 1);
	add_block(made, BLOCK_HIT_LABELS, 1, first);
}

/* The file labels only some of the hits, and labels one hit twice: the later label set counts. */
static void test_labels_of_some_hits(void **state)
{
	(void)state;
	struct hand_made made;
	begin(&made);
	add_labels(&made, (const uint64_t[][2]){ { 0, 2 } }, 1);
	add_one_hit(&made, 0, 0, 0, 3);
	add_columns(&made, 9, (uint64_t[]){ 5, 0, 0, 0, 1 }, 5);
	add_block(&made, BLOCK_HITS, 9, 1);
	add_hit_labels(&made, 7, 1);
	add_hit_labels(&made, 2, 1);
	add_hit_labels(&made, 2, 0);
	add_hit_labels(&made, 3, 1);
	struct error error;
	struct profile *profile = reader_load_bytes(made.file.bytes, made.file.size, "it", 0, &error);
	assert_non_null(profile);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(profile_hit_labels(profile, i), i == 3 || i == 7);
	assert_int_equal(profile_label_value(profile, 1, 1), 2);
	struct profile_label same[] = { { .key = 2, .value = 0 }, { .key = 1, .value = 2 } };
	assert_int_equal(profile_add_label_set(profile, same, 2), 1); /* a set that the reader appended is found */
	profile_free(profile);
	end(&made);
}

static void test_hostile_labels(void **state)
{
	(void)state;
	static const uint64_t bad[][2][2] = {
		{ { 0, 3 }, { 3, 0 } },          /* more labels than exist */
		{ { 0, 1 }, { 0, 1 } },          /* sets that overlap */
		{ { 1, 1 }, { 2, 0 } },          /* sets with a gap between them */
		{ { 0, 1 }, { 1, UINT32_MAX } }, /* a set that wraps around */
	};
	struct hand_made made;
	begin(&made);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		add_labels(&made, bad[i], 2);
		assert_made_refused(&made);
	}
	add_columns(&made, 1, (uint64_t[]){ 0, 0 }, 2); /* no key */
	add_block(&made, BLOCK_LABELS, 1, 0);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 9, 0 }, 2); /* no such string */
	add_block(&made, BLOCK_LABELS, 1, 0);
	assert_made_refused(&made);
	add_labels(&made, NULL, 0); /* one key twice in a set */
	add_columns(&made, 1, (uint64_t[]){ 2, 1 }, 2);
	add_block(&made, BLOCK_LABELS, 1, 2);
	add_columns(&made, 1, (uint64_t[]){ 0, 3 }, 2);
	add_block(&made, BLOCK_LABEL_SETS, 1, 1);
	assert_made_refused(&made);
	add_one_hit(&made, 0, 0, 0, 1); /* no such set */
	add_hit_labels(&made, 0, 1);
	assert_made_refused(&made);
	static const uint64_t no_hits[] = { 1, UINT32_MAX, UINT64_MAX };
	for (size_t i = 0; i < 3; i++) {
		add_one_hit(&made, 0, 0, 0, 1);
		add_hit_labels(&made, no_hits[i], 0);
		assert_made_refused(&made);
	}
	add_hit_labels(&made, 0, 0); /* labels before the hits */
	assert_made_refused(&made);
	end(&made);
}

/* Files of format 1.0 have no control groups. */
static void test_older_processes(void **state)
{
	(void)state;
	struct hand_made made;
	begin(&made);
	add_columns(&made, 1, (uint64_t[]){ 100, 1, 0, 0, 7 }, 5);
	add_block(&made, BLOCK_PROCESSES, 1, 0);
	struct error error;
	struct profile *profile = reader_load_bytes(made.file.bytes, made.file.size, "it", 0, &error);
	assert_non_null(profile);
	assert_int_equal(profile->process_count, 1);
	assert_int_equal(profile->processes[0].end_ns, 7000);
	assert_string_equal(profile_string(profile, profile->processes[0].cgroup), "");
	profile_free(profile);
	end(&made);
}

static void test_hostile_blocks(void **state)
{
	(void)state;
	struct hand_made made;
	begin(&made);
	add_columns(&made, 1, (uint64_t[]){ 3 }, 1); /* a string longer than the block */
	buffer_append_string(&made.packer.raw, "ab");
	add_block(&made, BLOCK_STRINGS, 1, 1);
	assert_made_refused(&made);
	add_columns(&made, 2, (uint64_t[]){ 1 }, 1); /* the same string twice */
	buffer_append_string(&made.packer.raw, "aa");
	add_block(&made, BLOCK_STRINGS, 2, 1);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 0 }, 1); /* string 0 again: it is empty */
	add_block(&made, BLOCK_STRINGS, 1, 1);
	assert_made_refused(&made);
	add_columns(&made, 2, (uint64_t[]){ 1 }, 1); /* a NUL in a string */
	buffer_append(&made.packer.raw, "a", 2);
	add_block(&made, BLOCK_STRINGS, 2, 1);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 1 }, 1); /* a gap in the ids */
	buffer_append_string(&made.packer.raw, "a");
	add_block(&made, BLOCK_STRINGS, 1, 2);
	assert_made_refused(&made);
	add_columns(&made, FORMAT_ROWS_MAX + 1, (uint64_t[]){ 0, 0, 0, 0, 0 }, 5); /* too many rows */
	add_block(&made, BLOCK_PROCESSES, FORMAT_ROWS_MAX + 1, 0);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0 }, 4); /* a column is missing */
	add_block(&made, BLOCK_PROCESSES, 1, 0);
	assert_made_refused(&made);
	add_columns(&made, 1, (uint64_t[]){ 0, 0, 0, 0, 0 }, 5); /* the id of a later row */
	add_block(&made, BLOCK_PROCESSES, 1, UINT64_MAX);
	assert_made_refused(&made);
	buffer_append(&made.packer.raw, "\x49\0\0\0\0\0\0\0\0\0\0", 11); /* a column with an undefined encoding */
	add_block(&made, BLOCK_STRINGS, 1, 1);
	assert_made_refused(&made);
	add_block(&made, BLOCK_HITS, 0, 0); /* no rows */
	assert_made_refused(&made);
	end(&made);
}

/* A block header whose raw_bytes differs from the size that the block decompresses to. */
static void test_hostile_sizes(void **state)
{
	(void)state;
	struct hand_made made;
	begin(&made);
	add_columns(&made, 1000, (uint64_t[]){ 0, 0, 0, 0, 0 }, 5);
	buffer_append(&made.packer.raw, (uint8_t[200]){ 0 }, 200);
	add_block(&made, BLOCK_PROCESSES, 1000, 0);
	struct format_block_header *header = (void *)(made.file.bytes + sizeof(struct format_file_header));
	assert_int_equal(header->codec, CODEC_ZSTD);
	for (uint32_t raw = 0; raw < FORMAT_RAW_MAX * 2u; raw += raw < 500 ? 1 : raw) {
		uint32_t right = header->raw_bytes;
		if (raw == right)
			continue;
		header->raw_bytes = raw;
		header->header_check = XXH64(header, 32, 0);
		assert_refused(made.file.bytes, made.file.size, ERROR_CORRUPT, "damaged");
		header->raw_bytes = right;
	}
	header->codec = 2;
	header->header_check = XXH64(header, 32, 0);
	assert_refused(made.file.bytes, made.file.size, ERROR_VERSION, "newer");
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_first_bytes),
		cmocka_unit_test(test_damage_in_any_block),
		cmocka_unit_test(test_most_hits_of_all_threads),
		cmocka_unit_test(test_file_that_shrinks),
		cmocka_unit_test(test_newer_version),
		cmocka_unit_test(test_unknown_blocks_are_skipped),
		cmocka_unit_test(test_hostile_ids),
		cmocka_unit_test(test_hostile_touches),
		cmocka_unit_test(test_labels_of_some_hits),
		cmocka_unit_test(test_hostile_labels),
		cmocka_unit_test(test_older_processes),
		cmocka_unit_test(test_hostile_blocks),
		cmocka_unit_test(test_hostile_sizes),
		cmocka_unit_test(largest_blocks),
		cmocka_unit_test(test_memory_that_small_blocks_need),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
