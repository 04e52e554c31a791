/* The compact form of a profile: its nodes come back, and a range between two periods has the hits that it had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/timeline.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "ui/page/compact.h"
#include "ui/page/engine.h"

enum { HITS = 500 };
static const uint64_t START_NS = 1234, STEP_NS = 777777;
static struct paths paths;

static int start(void **state)
{
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	assert_true(profile_add_process(profile, &(struct profile_process){ .pid = 5 }) >= 0);
	while (profile->thread_count < 2)
		assert_true(profile_add_thread(profile, &(struct profile_thread){ .tid = 5 }) >= 0);
	profile->start_ns = START_NS;
	profile->end_ns = START_NS + HITS * STEP_NS;
	static const char *const stacks[] = { "main;z;a", "main;b", "main;z;a;z;a", "other;b", "main" };
	for (unsigned i = 0; i < HITS; i++) {
		paths.time_ns = START_NS + i * STEP_NS;
		paths.thread = i % 7 == 0;
		paths_add(&paths, stacks[i * i % 5], 1 + i % 3);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	paths_end(&paths);
	return 0;
}

/* Returns the bytes of the profile as a page contains it. */
static struct buffer compact_bytes(size_t hits_most, uint64_t *period_ns)
{
	struct compact compact;
	struct buffer bytes;
	struct error error;
	assert_int_equal(compact_make(&compact, paths.profile, hits_most), 0);
	*period_ns = compact.period_ns;
	buffer_init(&bytes);
	compact_write_table(&compact, &bytes);
	struct writer *writer = writer_to_memory(&bytes, &error);
	assert_non_null(writer);
	assert_int_equal(writer_finish(writer, &compact.profile, &error), 0);
	writer_free(writer);
	compact_release(&compact);
	return bytes;
}

static char *answer(const struct profile *profile, const char *request)
{
	struct profile *profiles[] = { (struct profile *)profile };
	struct engine engine = { .profiles = profiles, .counts = { 1, 0 } };
	struct error error = { 0 };
	char *text = engine_answer(&engine, request, &error);
	if (!text)
		fail_msg("%s: %s", request, error.message);
	view_cache_release(&engine.views);
	return text;
}

static void all_figures_stay(void **state)
{
	(void)state;
	uint64_t period_ns;
	struct error error = { 0 };
	struct engine engine = { 0 };
	struct buffer bytes = compact_bytes(10, &period_ns);
	assert_int_equal(period_ns, 1000000); /* 389 ms have 389 of them */
	if (engine_load(&engine, 0, bytes.bytes, bytes.size, &error) < 0)
		fail_msg("%s", error.message);
	static const char *const requests[] = { "report=functions\n",
						"report=tree\n",
						"report=body\nfrom=0.1\nto=0.2\n",
						"report=functions\nfrom=0.037\nto=0.038\n",
						"report=threads\n",
						"report=down\nroot=z\nto=0.077\n" };
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		char *expected = answer(paths.profile, requests[i]), *found = answer(engine.profiles[0], requests[i]);
		assert_string_equal(found, expected);
		free(expected);
		free(found);
	}
	engine_release(&engine);
	buffer_release(&bytes);
}

static void few_hits_are_not_changed(void **state)
{
	(void)state;
	uint64_t period_ns;
	struct compact_table table;
	struct buffer bytes = compact_bytes(HITS, &period_ns);
	assert_int_equal(period_ns, 0);
	assert_int_equal(compact_find_table(&table, bytes.bytes, bytes.size), 0);
	assert_null(table.bytes);
	assert_int_equal(table.file, 0);
	buffer_release(&bytes);
}

static void damaged_bytes(void **state)
{
	(void)state;
	uint64_t period_ns;
	struct error error = { 0 };
	struct compact_table table;
	struct buffer bytes = compact_bytes(10, &period_ns);
	assert_int_equal(compact_find_table(&table, bytes.bytes, bytes.size), 0);
	for (size_t at = 0; at < table.file; at++)
		for (unsigned change = 1; change < 256; change++) {
			struct engine engine = { 0 };
			bytes.bytes[at] ^= (uint8_t)change;
			if (engine_load(&engine, 0, bytes.bytes, bytes.size, &error) == 0)
				assert_int_equal(profile_check(engine.profiles[0]), 0);
			engine_release(&engine);
			bytes.bytes[at] ^= (uint8_t)change;
		}
	for (size_t size = 0; size < table.file; size++) {
		struct engine engine = { 0 };
		assert_true(engine_load(&engine, 0, bytes.bytes, size, &error) < 0);
	}
	buffer_release(&bytes);
}

static void make(void)
{
	struct compact compact;
	if (compact_make(&compact, paths.profile, 10) == 0)
		compact_release(&compact);
}

static void without_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(make());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_figures_stay, start, end),
		cmocka_unit_test_setup_teardown(few_hits_are_not_changed, start, end),
		cmocka_unit_test_setup_teardown(damaged_bytes, start, end),
		cmocka_unit_test_setup_teardown(without_memory, start, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
