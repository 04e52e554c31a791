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

#include "profile/tail_calls.h"
#include "profile_file/block.h"
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

/* Appends the hits of `from` to the hits of `all`, and clears them, as a recorder does. */
static void move_hits(struct profile *all, struct profile *from)
{
	for (size_t i = 0; i < from->hit_count; i++) {
		const struct profile_hit *hit = &from->hits[i];
		size_t at = all->hit_count;
		assert_int_equal(profile_add_hit_row(all, hit), 0);
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
	struct error error = { 0 };
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
		assert_true(sample_profile_add_tail_calls(profile, &random));
		assert_int_equal(writer_finish(writer, profile, &error), 0);
	}
	assert_int_equal(writer_publish(writer, &error), 0);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(writer_size(writer), status.st_size);
	assert_string_equal(error.message, ""); /* a success sets no error */
	writer_free(writer);
	give_hits_back(all, profile);
	assert_int_equal(tail_calls_insert(profile, 0), 0);
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

/* --- writing and reading --- */

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

/* The same bytes in memory, which are not compressed. */
static void test_in_memory(void **state)
{
	(void)state;
	struct random random = { .state = 12 };
	struct error error = { 0 };
	struct buffer memory;
	struct profile *profile = new_profile();
	buffer_init(&memory);
	assert_true(sample_profile_grow(profile, &random, 300) && sample_profile_symbolize(profile, &random));
	struct writer *writer = writer_to_memory(&memory, &error);
	assert_non_null(writer);
	assert_int_equal(writer_finish(writer, profile, &error), 0);
	assert_int_equal(writer_size(writer), memory.size);
	writer_free(writer);
	struct profile *read = reader_load_bytes(memory.bytes, memory.size, "it", 0, &error);
	assert_non_null(read);
	assert_null(sample_profile_difference(profile, read));
	profile_free(read);
	buffer_release(&memory);
	profile_free(profile);
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

/* Returns the hits of all rows that are of one kind with this one, as hits and as samples. */
static uint64_t sum_of_kind(const struct profile *profile, const struct profile_hit *of, uint32_t labels,
			    uint64_t *samples)
{
	bool is_sampled = profile->resources[of->resource].kind == RESOURCE_SAMPLED;
	uint64_t hits = 0;
	*samples = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		bool is_same_size =
			of->count / (UINT64_C(1) + of->more_samples) == hit->count / (UINT64_C(1) + hit->more_samples);
		if (hit->node != of->node || hit->resource != of->resource ||
		    profile_hit_labels(profile, i) != labels || (is_sampled && !is_same_size))
			continue;
		hits += hit->count;
		*samples += is_sampled ? UINT64_C(1) + hit->more_samples : 0;
	}
	return hits;
}

static void assert_equal_sums(const struct profile *whole, const struct profile *sums)
{
	for (size_t i = 0; i < whole->hit_count; i++) {
		uint64_t samples[2];
		uint32_t labels = profile_hit_labels(whole, i);
		assert_int_equal(sum_of_kind(whole, &whole->hits[i], labels, &samples[0]),
				 sum_of_kind(sums, &whole->hits[i], labels, &samples[1]));
		assert_int_equal(samples[0], samples[1]);
	}
	uint64_t hits[2] = { 0 };
	for (size_t i = 0; i < whole->hit_count; i++)
		hits[0] += whole->hits[i].count;
	for (size_t i = 0; i < sums->hit_count; i++) {
		hits[1] += sums->hits[i].count;
		assert_int_equal(sums->hits[i].time_ns, 0);
		assert_int_equal(sums->hits[i].thread, PROFILE_NONE);
	}
	assert_int_equal(hits[0], hits[1]);
}

static void test_sums(void **state)
{
	(void)state;
	size_t rows[2] = { 0 };
	for (uint64_t seed = 1; seed <= 25; seed++) {
		struct error error;
		profile_free(write_random(seed, 1 + (int)(seed % 5), seed * 7 % 900, true));
		struct profile *whole = reader_load(path, 0, &error), *sums = reader_load_sums(path, 0, &error);
		assert_non_null(sums);
		assert_equal_sums(whole, sums);
		assert_int_equal(sums->node_count, whole->node_count);
		assert_int_equal(sums->touch_count, whole->touch_count);
		assert_int_equal(sums->end_ns, whole->end_ns);
		assert_int_equal(profile_check(sums), 0);
		rows[0] += whole->hit_count;
		rows[1] += sums->hit_count;
		profile_free(sums);
		profile_free(whole);
	}
	assert_true(rows[1] < rows[0]);
}

/* Several blocks make sums, too. A file that its recorder did not end keeps all hits as they are. */
static void test_sums_of_many_blocks(void **state)
{
	(void)state;
	struct error error;
	profile_free(write_random(99, 3, 200000, true));
	struct profile *whole = reader_load(path, 0, &error), *sums = reader_load_sums(path, 0, &error);
	assert_non_null(sums);
	assert_true(sums->hit_count < whole->hit_count);
	for (uint32_t resource = 0; resource < whole->resource_count; resource++) {
		uint64_t hits[2] = { 0 };
		for (size_t i = 0; i < whole->hit_count; i++)
			hits[0] += whole->hits[i].resource == resource ? whole->hits[i].count * whole->hits[i].node : 0;
		for (size_t i = 0; i < sums->hit_count; i++)
			hits[1] += sums->hits[i].resource == resource ? sums->hits[i].count * sums->hits[i].node : 0;
		assert_int_equal(hits[0], hits[1]);
	}
	profile_free(sums);
	profile_free(whole);
	profile_free(write_random(5, 2, 300, false));
	whole = reader_load(path, 0, &error);
	sums = reader_load_sums(path, 0, &error);
	assert_non_null(sums);
	assert_false(sums->symbolized);
	assert_int_equal(sums->hit_count, whole->hit_count);
	assert_null(sample_profile_difference(whole, sums));
	profile_free(sums);
	profile_free(whole);
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
	assert_int_equal(read->finding_count, 1 + profile->finding_count);
	const struct profile_finding *finding = &read->findings[profile->finding_count];
	char expected[160];
	snprintf(expected, sizeof(expected),
		 "the recording is incomplete: it ends after %.1f s, without the names that the recorder adds at its "
		 "end",
		 (double)(read->end_ns - read->start_ns) / 1e9);
	assert_string_equal(profile_string(read, finding->text), expected);
	assert_int_equal(finding->count, 0);
	profile_free(read);
	profile_free(profile);
	writer_free(writer);
}

/* The end mark has neither rows nor a payload. */
static void test_end_mark(void **state)
{
	(void)state;
	struct format_block_header header;
	profile_free(write_random(2, 1, 20, true));
	struct bytes file = read_bytes(path);
	memcpy(&header, file.bytes + file.size - sizeof(header), sizeof(header));
	assert_true(format_block_header_sound(&header));
	assert_int_equal(header.type, BLOCK_END);
	assert_int_equal(header.codec, CODEC_RAW);
	assert_int_equal(header.rows, 0);
	assert_int_equal(header.first, 0);
	assert_int_equal(header.raw_bytes, 0);
	assert_int_equal(header.stored_bytes, 0);
	free(file.bytes);
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
		assert_true(finding_amount(read, FINDING_BYTES_SKIPPED) < size);
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
	assert_null(reader_load(name, 0, &error));
	assert_int_equal(error.code, ERROR_FORMAT);
	char bytes[64 * 1024]; /* as many as a pipe holds */
	ssize_t size = read(ends[0], bytes, sizeof(bytes));
	assert_true(size > 0);
	struct profile *loaded = reader_load_bytes(bytes, (size_t)size, "standard input", 0, &error);
	assert_non_null(loaded);
	assert_null(sample_profile_difference(profile, loaded));
	close(ends[0]);
	profile_free(loaded);
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
		assert_int_equal(finding_amount(read, FINDING_BYTES_SKIPPED), 0);
		assert_false(read->ended);
		profile_free(read);
		profile_free(profile);
	}
}

/* While the disk is full, each flush leaves the file as it was. When there is room again, the next one writes what the
 * caller has kept: the same profile as of a writer that always had room. */
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
		/* Tables that have not changed since are not written again. */
		assert_int_equal(writer_flush(writer, profile, &error), 0);
		uint64_t size = writer_size(writer);
		assert_int_equal(writer_flush(writer, profile, &error), 0);
		assert_int_equal(writer_size(writer), size);
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
		assert_int_equal(finding_amount(read, FINDING_BYTES_SKIPPED), 0);
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
		cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_in_memory),
		cmocka_unit_test(test_sums),         cmocka_unit_test(test_sums_of_many_blocks),
		cmocka_unit_test(test_many_blocks),  cmocka_unit_test(test_killed_recorder),
		cmocka_unit_test(test_end_mark),     cmocka_unit_test(test_times_become_microseconds),
		cmocka_unit_test(test_idle_flush),   cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped_bits), cmocka_unit_test(test_no_labels_no_blocks),
		cmocka_unit_test(test_not_writable), cmocka_unit_test(test_publishing),
		cmocka_unit_test(test_link),         cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_full_device),  cmocka_unit_test(test_disk_fills_up),
		cmocka_unit_test(test_room_again),   cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
