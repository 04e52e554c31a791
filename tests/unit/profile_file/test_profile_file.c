/* The profile file: the reader returns exactly what the writer wrote, and refuses any other bytes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "base/array.h"
#include "profile/findings.h"
#include "profile_file/block.h"
#include "profile_file/column.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"
#include "support/alloc_fail.h"
#include "support/sample_profile.h"

static char directory[] = "/tmp/cpprof-test-XXXXXX";
static char path[64];     /* DIRECTORY/data */
static char old_path[64]; /* DIRECTORY/data.old */

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/data", directory);
	snprintf(old_path, sizeof(old_path), "%s/data.old", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	unlink(old_path);
	/* Fails if a test left a temporary file behind. */
	return rmdir(directory);
}

/* --- helpers --- */

static struct profile *new_profile(void)
{
	struct profile *profile = profile_new();
	assert_non_null(profile);
	return profile;
}

/* Appends the hits of `from` to those of `all`, and clears them, as a recorder does. */
static void move_hits(struct profile *all, struct profile *from)
{
	for (size_t i = 0; i < from->hit_count; i++) {
		const struct profile_hit *hit = &from->hits[i];
		size_t at = all->hit_count;
		assert_int_equal(profile_add_hit(all, hit->time_ns, hit->thread, hit->node, hit->resource, hit->count),
				 0);
		assert_int_equal(profile_label_hits(all, at, profile_hit_labels(from, i)), 0);
	}
	for (size_t i = 0; i < from->touch_count; i++)
		assert_true(profile_add_touch(all, &from->touches[i]) >= 0);
	profile_clear_hits(from);
}

static void give_hits_back(struct profile *all, struct profile *profile)
{
	profile_clear_hits(profile);
	move_hits(profile, all);
	profile_free(all);
}

/* Writes a random profile to `path` in several flushes. Returns the profile as written. */
static struct profile *write_random(uint64_t seed, int flushes, size_t hits, bool finish)
{
	struct random random = { .state = seed };
	struct error error;
	struct profile *profile = new_profile();
	struct profile *all = new_profile();
	struct writer *writer = writer_open(path, &error);
	assert_non_null(writer);
	for (int i = 0; i < flushes; i++) {
		assert_true(sample_profile_grow(profile, &random, hits));
		assert_int_equal(writer_flush(writer, profile, &error), 0);
		move_hits(all, profile);
	}
	if (finish) {
		assert_true(sample_profile_symbolize(profile, &random));
		assert_int_equal(writer_finish(writer, profile, &error), 0);
	}
	assert_int_equal(writer_publish(writer, &error), 0);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(writer_size(writer), status.st_size);
	writer_free(writer);
	give_hits_back(all, profile);
	return profile;
}

struct bytes {
	uint8_t *bytes;
	size_t size;
};

static struct bytes read_bytes(const char *name)
{
	FILE *file = fopen(name, "rb");
	assert_non_null(file);
	struct bytes read = { .bytes = malloc(1 << 22) };
	assert_non_null(read.bytes);
	read.size = fread(read.bytes, 1, 1 << 22, file);
	fclose(file);
	return read;
}

static void assert_refused(const void *bytes, size_t size, int code, const char *words)
{
	struct error error = { 0 };
	assert_null(reader_load_bytes(bytes, size, "it", 0, &error));
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.message, words));
}

/* --- writing and reading --- */

/* Returns the amount that the reader skipped, according to its finding. */
static uint64_t skipped(const struct profile *profile, enum finding_code code)
{
	const struct profile_finding *finding = finding_find(profile, code);
	return finding ? finding->count : 0;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct profile *written = write_random(seed, 1 + (int)(seed % 5), seed * 7 % 900, true);
		struct error error;
		struct profile *read = reader_load(path, 0, &error);
		assert_non_null(read);
		const char *difference = sample_profile_difference(written, read);
		if (difference)
			fail_msg("seed %llu: %s", (unsigned long long)seed, difference);
		assert_true(read->ended);
		assert_int_equal(read->finding_count, written->finding_count); /* nothing was skipped */
		assert_int_equal(profile_check(read), 0);
		profile_free(read);
		profile_free(written);
	}
}

/* So many rows that several blocks are needed, and several threads decode them. */
static void test_many_blocks(void **state)
{
	(void)state;
	struct profile *written = write_random(99, 3, 200000, true);
	struct error error;
	struct profile *read = reader_load(path, 0, &error);
	assert_non_null(read);
	assert_null(sample_profile_difference(written, read));
	profile_free(read);
	profile_free(written);
}

static void test_killed_recorder(void **state)
{
	(void)state;
	struct random random = { .state = 7 };
	struct error error;
	struct profile *profile = new_profile();
	struct writer *writer = writer_open(path, &error);
	assert_non_null(writer);
	assert_true(sample_profile_grow(profile, &random, 50));
	profile->end_ns = 0;
	assert_int_equal(profile_add_hit(profile, 9999999000000, PROFILE_NONE, 0, 0, 1), 0);
	assert_int_equal(writer_flush(writer, profile, &error), 0);
	assert_int_equal(writer_publish(writer, &error), 0);
	struct profile *read = reader_load(path, 0, &error);
	assert_non_null(read);
	assert_false(read->ended);
	assert_false(read->symbolized);
	assert_int_equal(read->hit_count, profile->hit_count);
	assert_int_equal(read->start_ns, profile->start_ns);
	assert_int_equal(read->end_ns, 9999999000000); /* the time of its last hit */
	profile_free(read);
	profile_free(profile);
	writer_free(writer);
}

static void test_times_become_microseconds(void **state)
{
	(void)state;
	struct random random = { .state = 5 };
	struct error error;
	struct profile *profile = new_profile();
	assert_true(sample_profile_grow(profile, &random, 0));
	static const uint64_t times[] = { 1, 999, 1000, 1234567, 0, UINT64_MAX };
	static const uint64_t expected[] = { 1000, 1000, 1000, 1234000, 0, UINT64_MAX / 1000 * 1000 };
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(profile_add_hit(profile, times[i], 0, 0, 0, 1), 0);
	struct writer *writer = writer_open(path, &error);
	assert_int_equal(writer_finish(writer, profile, &error), 0);
	assert_int_equal(writer_publish(writer, &error), 0);
	struct profile *read = reader_load(path, 0, &error);
	assert_non_null(read);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(read->hits[i].time_ns, expected[i]);
	profile_free(read);
	profile_free(profile);
	writer_free(writer);
}

/* A flush writes nothing if nothing changed since the last one. */
static void test_idle_flush(void **state)
{
	(void)state;
	struct random random = { .state = 5 };
	struct error error;
	struct profile *profile = new_profile();
	assert_true(sample_profile_grow(profile, &random, 100));
	struct writer *writer = writer_open(path, &error);
	assert_int_equal(writer_flush(writer, profile, &error), 0);
	profile_clear_hits(profile);
	uint64_t size = writer_size(writer);
	assert_int_equal(writer_flush(writer, profile, &error), 0);
	assert_int_equal(writer_size(writer), size);
	profile->processes[0].end_ns = 5000;
	assert_int_equal(writer_flush(writer, profile, &error), 0);
	assert_true(writer_size(writer) > size && writer_size(writer) < size + 120);
	profile_free(profile);
	writer_free(writer);
}

/* --- damage --- */

/* A file that is cut at any byte can be read up to its last complete block. */
static void test_truncated(void **state)
{
	(void)state;
	struct profile *written = write_random(3, 2, 40, true);
	struct bytes file = read_bytes(path);
	size_t most = 0;
	for (size_t size = 0; size < file.size; size++) {
		struct error error;
		struct profile *read = reader_load_bytes(file.bytes, size, "it", 0, &error);
		if (size < sizeof(struct format_file_header)) {
			assert_null(read);
			assert_int_equal(error.code, size ? ERROR_TRUNCATED : ERROR_FORMAT);
			continue;
		}
		if (!read)
			fail_msg("at %zu of %zu: %s", size, file.size, error.message);
		assert_false(read->ended);
		assert_true(skipped(read, FINDING_BYTES_SKIPPED) < size);
		assert_true(read->hit_count >= most);
		most = read->hit_count;
		profile_free(read);
	}
	assert_int_equal(most, written->hit_count);
	free(file.bytes);
	profile_free(written);
}

/* The reader detects any single flipped bit. */
static void test_flipped_bits(void **state)
{
	(void)state;
	profile_free(write_random(4, 2, 30, true));
	struct bytes file = read_bytes(path);
	for (size_t bit = 0; bit < file.size * 8; bit++) {
		file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		struct error error;
		struct profile *read = reader_load_bytes(file.bytes, file.size, "it", 0, &error);
		if (read)
			fail_msg("bit %zu of byte %zu of %zu was not missed", bit % 8, bit / 8, file.size);
		if (bit / 8 >= sizeof(struct format_file_header)) {
			assert_int_equal(error.code, ERROR_CORRUPT);
			assert_non_null(strstr(error.message, "corrupt block at byte "));
		}
		file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(file.bytes);
}

static void test_foreign(void **state)
{
	(void)state;
	assert_refused("", 0, ERROR_FORMAT, "empty");
	assert_refused(NULL, 0, ERROR_FORMAT, "empty");
	assert_refused("PERFILE2\x68\0\0\0\0\0\0\0", 16, ERROR_FORMAT, "perf");
	assert_refused("gmon\1\0\0\0", 8, ERROR_FORMAT, "gprof");
	assert_refused("\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17, ERROR_FORMAT, "pprof");
	assert_refused("main;a 12\n", 10, ERROR_FORMAT, "not a cpprof profile");
	assert_refused("\x89"
		       "CPP\n\x1a\n\1\0\0\0\0\0\0\0",
		       16, ERROR_CORRUPT, "text");
	struct error error;
	assert_null(reader_load("/tmp", 0, &error));
	assert_int_equal(error.code, ERROR_FORMAT);
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

/* --- blocks made by hand --- */

struct hand_made {
	struct buffer file;
	struct packer packer;
};

static void begin(struct hand_made *made)
{
	struct format_file_header header = format_file_header_make();
	buffer_init(&made->file);
	assert_int_equal(packer_init(&made->packer), 0);
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
	/* Columns of a later version follow the known ones. */
	add_columns(&made, 1, (uint64_t[]){ 1, 2, 3, 4, 0, 17, 18 }, 7);
	add_block(&made, BLOCK_TOTALS, 1, 0);
	add_block(&made, BLOCK_END, 0, 0);
	buffer_append_string(&made.file, "\n");
	struct error error;
	struct profile *profile = reader_load_bytes(made.file.bytes, made.file.size, "it", 0, &error);
	assert_non_null(profile);
	assert_int_equal(skipped(profile, FINDING_BLOCKS_SKIPPED), 1);
	assert_int_equal(skipped(profile, FINDING_BYTES_SKIPPED), 1);
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

/* A profile without labels has no blocks for them. */
static void test_no_labels_no_blocks(void **state)
{
	(void)state;
	struct random random = { .state = 5 };
	struct error error;
	struct profile *profile = new_profile();
	assert_true(sample_profile_grow(profile, &random, 0));
	uint64_t sizes[2];
	for (int labelled = 0; labelled < 2; labelled++) {
		struct writer *writer = writer_open(path, &error);
		profile_clear_hits(profile);
		assert_int_equal(profile_add_hit(profile, 1000, 0, 0, 0, 1), 0);
		struct profile_label label = { .key = 1, .value = 0 };
		int64_t set = labelled ? profile_add_label_set(profile, &label, 1) : PROFILE_NO_LABELS;
		assert_int_equal(profile_label_hits(profile, 0, (uint32_t)set), 0);
		assert_int_equal(writer_flush(writer, profile, &error), 0);
		sizes[labelled] = writer_size(writer);
		writer_free(writer);
	}
	/* Labels add three blocks, with two, two and one column, each of two or three bytes. */
	assert_in_range(sizes[1] - sizes[0], 3 * sizeof(struct format_block_header) + 5 * 2,
			3 * sizeof(struct format_block_header) + 5 * 3);
	profile_free(profile);
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

/* --- file names --- */

static void assert_not_writable(const char *name, const char *words)
{
	struct error error = { 0 };
	assert_null(writer_open(name, &error));
	assert_true(error.code < 0);
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static void test_not_writable(void **state)
{
	(void)state;
	char name[300];
	assert_not_writable("", "empty");
	assert_not_writable("/nonexistent/cpprof.data", "/nonexistent/cpprof.data': No such file or directory");
	assert_not_writable(directory, "is a directory");
	snprintf(name, sizeof(name), "%s/", directory);
	assert_not_writable(name, "is a directory");
	assert_not_writable("/proc/cpprof.data", "cannot write '/proc/cpprof.data': ");
	snprintf(name, sizeof(name), "%s/link", directory);
	assert_int_equal(symlink("/nonexistent/x", name), 0);
	assert_not_writable(name, "a symbolic link");
	unlink(name);
	unlink(old_path);
	assert_int_equal(mkdir(old_path, 0700), 0);
	assert_not_writable(path, "data.old': that is a directory");
	rmdir(old_path);
	snprintf(name, sizeof(name), "%s/%0254d", directory, 0);
	assert_not_writable(name, "File name too long");
}

static size_t count_files(void)
{
	char command[128];
	snprintf(command, sizeof(command), "ls -A %s | wc -l", directory);
	FILE *pipe = popen(command, "r");
	unsigned count = 0;
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	pclose(pipe);
	return count;
}

static void write_text(const char *name, const char *words)
{
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	fputs(words, file);
	fclose(file);
}

static void test_publishing(void **state)
{
	(void)state;
	struct error error;
	struct profile *profile = new_profile();
	unlink(path);
	unlink(old_path);
	write_text(path, "older");
	/* A writer that does not publish leaves the older file alone. */
	struct writer *writer = writer_open(path, &error);
	assert_non_null(writer);
	assert_int_equal(count_files(), 2);
	writer_free(writer);
	assert_int_equal(count_files(), 1);
	/* After two recordings, only one older file is kept. */
	for (int i = 0; i < 2; i++) {
		writer = writer_open(path, &error);
		assert_non_null(writer);
		assert_int_equal(writer_publish(writer, &error), 0);
		assert_int_equal(writer_publish(writer, &error), 0);
		assert_int_equal(writer_finish(writer, profile, &error), 0);
		assert_int_equal(writer_flush(writer, profile, &error), ERROR_USAGE);
		writer_free(writer);
		assert_int_equal(count_files(), 2);
		struct profile *read = reader_load(path, 0, &error);
		assert_non_null(read);
		profile_free(read);
	}
	struct profile *read = reader_load(old_path, 0, &error);
	assert_non_null(read);
	profile_free(read);
	profile_free(profile);
}

/* The writer replaces the file that a symbolic link names, not the link. */
static void test_link(void **state)
{
	(void)state;
	char link[64];
	struct error error;
	struct stat status;
	unlink(path);
	write_text(path, "older");
	snprintf(link, sizeof(link), "%s/link", directory);
	assert_int_equal(symlink("data", link), 0);
	struct writer *writer = writer_open(link, &error);
	assert_non_null(writer);
	assert_int_equal(writer_publish(writer, &error), 0);
	writer_free(writer);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, sizeof(struct format_file_header));
	unlink(link);
}

static void test_pipe(void **state)
{
	(void)state;
	struct random random = { .state = 11 };
	struct error error;
	struct profile *profile = new_profile();
	assert_true(sample_profile_grow(profile, &random, 200));
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	char name[32];
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	struct writer *writer = writer_open(name, &error);
	assert_non_null(writer);
	assert_int_equal(writer_publish(writer, &error), 0);
	assert_int_equal(writer_finish(writer, profile, &error), 0);
	writer_free(writer);
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	struct profile *read = reader_load(name, 0, &error);
	assert_non_null(read);
	assert_null(sample_profile_difference(profile, read));
	close(ends[0]);
	profile_free(read);
	profile_free(profile);
}

/* --- no space --- */

static void test_full_device(void **state)
{
	(void)state;
	struct error error;
	struct profile *profile = new_profile();
	struct writer *writer = writer_open("/dev/full", &error);
	assert_non_null(writer);
	assert_int_equal(writer_flush(writer, profile, &error), ERROR_NO_SPACE);
	assert_non_null(strstr(error.message, "/dev/full': No space left"));
	memset(&error, 0, sizeof(error));
	assert_int_equal(writer_finish(writer, profile, &error), ERROR_NO_SPACE);
	assert_non_null(strstr(error.message, "No space left"));
	writer_free(writer);
	profile_free(profile);
}

/* If the disk fills up during a recording, the blocks that fit are kept and can be read. */
static void test_disk_fills_up(void **state)
{
	(void)state;
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t limit = 20; limit < 6000; limit += 137) {
		struct random random = { .state = 13 };
		struct error error, again;
		struct profile *profile = new_profile();
		struct writer *writer = writer_open(path, &error);
		assert_non_null(writer);
		assert_int_equal(writer_publish(writer, &error), 0);
		struct rlimit small = { .rlim_cur = limit, .rlim_max = before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		size_t kept = 0;
		int code = 0;
		for (int i = 0; i < 100 && code == 0; i++) {
			assert_true(sample_profile_grow(profile, &random, 40));
			code = writer_flush(writer, profile, &error);
			kept += code == 0 ? profile->hit_count : 0;
			if (code == 0)
				profile_clear_hits(profile);
		}
		assert_int_equal(code, ERROR_NO_SPACE);
		assert_int_equal(writer_finish(writer, profile, &again), ERROR_NO_SPACE);
		assert_string_equal(error.message, again.message);
		writer_free(writer);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		struct profile *read = reader_load(path, 0, &error);
		assert_non_null(read);
		assert_true(read->hit_count >= kept);
		/* The writer truncated the file to its last complete block. */
		assert_int_equal(skipped(read, FINDING_BYTES_SKIPPED), 0);
		assert_false(read->ended);
		profile_free(read);
		profile_free(profile);
	}
}

/* While the disk is full, each flush leaves the file as it was. When there is room again, the next one writes what the
 * caller has kept: the same profile as that of a writer which always had room. */
static void test_room_again(void **state)
{
	(void)state;
	enum { FLUSHES = 24, FULL_FROM = 6, FULL_TO = 15 };
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t room = 0; room < 900; room += 41) {
		struct random random = { .state = 17 };
		struct error error;
		struct profile *profile = new_profile(), *all = new_profile();
		struct writer *writer = writer_open(path, &error);
		assert_non_null(writer);
		size_t failed = 0;
		for (int i = 0; i < FLUSHES; i++) {
			uint64_t size = writer_size(writer);
			struct rlimit limit = before;
			if (i >= FULL_FROM && i < FULL_TO)
				limit.rlim_cur = size + room;
			assert_true(sample_profile_grow(profile, &random, 40));
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
			int code = writer_flush(writer, profile, &error);
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
			assert_true(writer_can_resume(writer));
			failed += code < 0;
			if (code < 0) {
				assert_int_equal(code, ERROR_NO_SPACE);
				assert_int_equal(writer_size(writer), size);
			} else {
				move_hits(all, profile);
			}
		}
		assert_true(failed > 0);
		assert_true(sample_profile_symbolize(profile, &random));
		assert_int_equal(writer_finish(writer, profile, &error), 0);
		assert_int_equal(writer_publish(writer, &error), 0);
		writer_free(writer);
		give_hits_back(all, profile);
		struct profile *read = reader_load(path, 0, &error);
		if (!read)
			fail_msg("%s", error.message);
		const char *difference = sample_profile_difference(profile, read);
		if (difference)
			fail_msg("room for %llu bytes: %s", (unsigned long long)room, difference);
		assert_int_equal(skipped(read, FINDING_BYTES_SKIPPED), 0);
		assert_int_equal(profile_check(read), 0);
		profile_free(read);
		profile_free(profile);
	}
}

/* --- no memory --- */

static void try_to_write(struct profile *profile)
{
	struct error error = { 0 };
	struct writer *writer = writer_open(path, &error);
	int code = writer ? writer_flush(writer, profile, &error) : error.code;
	if (code == 0)
		code = writer_finish(writer, profile, &error);
	if (code == 0)
		code = writer_publish(writer, &error);
	if (code < 0) {
		assert_int_equal(code, ERROR_MEMORY);
		assert_int_equal(error.code, ERROR_MEMORY);
		assert_non_null(strstr(error.message, "memory"));
	}
	writer_free(writer);
}

static void try_to_load(const char *name)
{
	struct error error = { 0 };
	struct profile *profile = reader_load(name, 0, &error);
	if (!profile) {
		assert_int_equal(error.code, ERROR_MEMORY);
		assert_non_null(strstr(error.message, "memory"));
	}
	profile_free(profile);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct profile *profile = write_random(21, 1, 300, true);
	ALLOC_FAIL_EACH(try_to_write(profile));
	ALLOC_FAIL_EACH(try_to_load(path));
	profile_free(profile);
	/* So many hits that the reader uses threads and huge pages. */
	profile_free(write_random(22, 2, 200000, true));
	for (unsigned long number = 1; number < 60; number++) {
		alloc_fail_start(number);
		try_to_load(path);
		alloc_fail_stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_many_blocks),
		cmocka_unit_test(test_killed_recorder),
		cmocka_unit_test(test_times_become_microseconds),
		cmocka_unit_test(test_idle_flush),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_newer_version),
		cmocka_unit_test(test_unknown_blocks_are_skipped),
		cmocka_unit_test(test_hostile_ids),
		cmocka_unit_test(test_hostile_touches),
		cmocka_unit_test(test_labels_of_some_hits),
		cmocka_unit_test(test_hostile_labels),
		cmocka_unit_test(test_no_labels_no_blocks),
		cmocka_unit_test(test_older_processes),
		cmocka_unit_test(test_hostile_blocks),
		cmocka_unit_test(test_hostile_sizes),
		cmocka_unit_test(test_memory_that_small_blocks_need),
		cmocka_unit_test(test_not_writable),
		cmocka_unit_test(test_publishing),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_disk_fills_up),
		cmocka_unit_test(test_room_again),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
