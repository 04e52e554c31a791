/* A timeline has each hit in its thread's row and its period, and counts those that have neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/timeline.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

static struct paths paths;

/* Two threads, from 1,000 to 2,000 ns. */
static int start(void **state)
{
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	while (profile->thread_count < 2)
		assert_true(profile_add_thread(profile, &(struct profile_thread){ .tid = 5 }) >= 0);
	profile->start_ns = 1000;
	profile->end_ns = 2000;
	static const struct {
		uint64_t time_ns;
		uint32_t thread;
		uint64_t hits;
	} rows[] = { { 1000, 0, 1 },
		     { 1099, 0, 2 },
		     { 1100, 0, 4 },
		     { 1950, 1, 8 },
		     { 2000, 1, 16 },
		     { 0, 0, 32 },
		     { 1500, PROFILE_NONE, 64 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		paths.time_ns = rows[i].time_ns;
		paths.thread = rows[i].thread;
		paths_add(&paths, "main;f", rows[i].hits);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	paths_end(&paths);
	return 0;
}

static void hits_by_thread_and_period(void **state)
{
	(void)state;
	const struct view_options options = { .thread = VIEW_ANY };
	struct timeline *timeline = analyze_timeline(paths.profile, &options, TIMELINE_THREADS, 10, NULL);
	assert_int_equal(timeline->from_ns, 0);
	assert_int_equal(timeline->to_ns, 1000);
	double expected[20] = { [0] = 1 + 2, [1] = 4, [19] = 8 + 16 };
	for (size_t i = 0; i < 20; i++)
		assert_float_equal(timeline->hits[i], expected[i], 1e-9);
	assert_int_equal(timeline->outside, 32 + 64);
	timeline_free(timeline);
	timeline_free(NULL);
}

/* A wait of 400 ns ends at 1,950 with 4 hits of 100 ns: they belong to the time from 550 to 950. */
static void a_wait_is_before_its_end(void **state)
{
	(void)state;
	struct profile *profile = paths.profile;
	profile->resources[0].unit = (uint32_t)profile_add_string(profile, "ns");
	profile->resources[0].interval = 100;
	profile->hit_count = 0;
	paths.thread = 1;
	paths.time_ns = 1950;
	paths_add(&paths, "main;wait", 4);
	paths.time_ns = 1100; /* more than there was since the start */
	paths_add(&paths, "main;wait", 8);
	const struct view_options options = { .thread = VIEW_ANY };
	struct timeline *timeline = analyze_timeline(profile, &options, TIMELINE_THREADS, 10, NULL);
	const double expected[10] = { [0] = 8, [5] = 0.5, [6] = 1, [7] = 1, [8] = 1, [9] = 0.5 };
	for (size_t i = 0; i < 10; i++)
		assert_float_equal(timeline->hits[10 + i], expected[i], 1e-9);
	timeline_free(timeline);
	const struct view_options later = { .thread = VIEW_ANY, .from_ns = 650, .to_ns = 1050 };
	timeline = analyze_timeline(profile, &later, TIMELINE_THREADS, 2, NULL);
	assert_float_equal(timeline->hits[2], 2, 1e-9); /* one more is before the range */
	assert_float_equal(timeline->hits[3], 1, 1e-9);
	timeline_free(timeline);
	const struct view_options within = { .thread = VIEW_ANY, .from_ns = 600, .to_ns = 800 };
	timeline = analyze_timeline(profile, &within, TIMELINE_THREADS, 2, NULL);
	assert_float_equal(timeline->hits[2], 1, 1e-9);
	assert_float_equal(timeline->hits[3], 1, 1e-9);
	assert_int_equal(timeline->outside, 0);
	timeline_free(timeline);
}

static void a_selected_range(void **state)
{
	(void)state;
	const struct view_options options = { .thread = VIEW_ANY, .from_ns = 99, .to_ns = 500 };
	struct timeline *timeline = analyze_timeline(paths.profile, &options, TIMELINE_THREADS, 1, NULL);
	assert_float_equal(timeline->hits[0], 2 + 4, 1e-9);
	assert_float_equal(timeline->hits[1], 0, 1e-9);
	assert_int_equal(timeline->outside, 0);
	timeline_free(timeline);
}

static void a_selected_thread(void **state)
{
	(void)state;
	const struct view_options options = { .thread = 1 };
	struct timeline *timeline = analyze_timeline(paths.profile, &options, TIMELINE_THREADS, 1, NULL);
	assert_float_equal(timeline->hits[0], 0, 1e-9);
	assert_float_equal(timeline->hits[1], 8 + 16, 1e-9);
	timeline_free(timeline);
}

static void an_unknown_resource(void **state)
{
	(void)state;
	struct error error = { 0 };
	const uint32_t unknown[] = { (uint32_t)paths.profile->resource_count, 9 };
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		const struct view_options options = { .resource = unknown[i], .thread = VIEW_ANY };
		error.code = 0;
		assert_null(analyze_timeline(paths.profile, &options, TIMELINE_THREADS, 1, &error));
		assert_int_equal(error.code, ERROR_NOT_FOUND);
	}
}

/* A thread's first hit is on a broken path, and the others below the mark at which the thread was created. */
static void where_a_thread_was_created(void **state)
{
	(void)state;
	struct profile *profile = paths.profile;
	const struct profile_module module = { .path = (uint32_t)profile_add_string(profile, "[thread]"),
					       .kind = MODULE_THREAD };
	int64_t location = profile_add_location(profile, (uint32_t)profile_add_module(profile, &module), 0);
	int64_t mark = profile_add_node(profile, profile->hits[0].node, (uint32_t)location);
	int64_t below = profile_add_node(profile, (uint32_t)mark, profile->nodes[profile->hits[0].node].location);
	assert_true(below > mark && mark > 0);
	assert_int_equal(profile_add_hit(profile, 1999, 1, (uint32_t)below, 0, 1), 0);
	const struct view_options options = { .thread = VIEW_ANY };
	struct timeline *timeline = analyze_timeline(profile, &options, TIMELINE_THREADS, 10, NULL);
	assert_int_equal(timeline->marks[0], PROFILE_ROOT);
	assert_int_equal(timeline->marks[1], mark);
	timeline_free(timeline);
}

/* The hits without the label, and those without a thread, have rows, too; a hit without a time has none. */
static void rows_of_a_label(void **state)
{
	(void)state;
	struct profile *profile = paths.profile;
	struct profile_label host = { .key = (uint32_t)profile_add_string(profile, "host"),
				      .value = (uint32_t)profile_add_string(profile, "web-1") };
	int64_t set = profile_add_label_set(profile, &host, 1);
	assert_true(set > 0);
	assert_int_equal(profile_label_hits(profile, 5, (uint32_t)set), 0);
	const struct view_options options = { .thread = VIEW_ANY };
	struct timeline *timeline = analyze_timeline(profile, &options, host.key, 10, NULL);
	assert_int_equal(timeline->row_count, 2);
	assert_int_equal(timeline->groups->groups[0].labels->value, host.value);
	assert_int_equal(timeline->groups->groups[1].label_count, 0);
	const double expected[20] = { [5] = 64, [10] = 1 + 2, [11] = 4, [19] = 8 + 16 };
	for (size_t i = 0; i < 20; i++)
		assert_float_equal(timeline->hits[i], expected[i], 1e-9);
	assert_int_equal(timeline->outside, 32);
	timeline_free(timeline);
	struct error error = { 0 };
	ALLOC_FAIL_EACH(timeline_free(analyze_timeline(profile, &options, host.key, 10, &error)));
	assert_int_equal(error.code, ERROR_MEMORY);
}

static void without_memory(void **state)
{
	(void)state;
	struct error error = { 0 };
	const struct view_options options = { .thread = 1 };
	ALLOC_FAIL_EACH(timeline_free(analyze_timeline(paths.profile, &options, TIMELINE_THREADS, 10, &error)));
	assert_int_equal(error.code, ERROR_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hits_by_thread_and_period, start, end),
		cmocka_unit_test_setup_teardown(a_wait_is_before_its_end, start, end),
		cmocka_unit_test_setup_teardown(a_selected_range, start, end),
		cmocka_unit_test_setup_teardown(a_selected_thread, start, end),
		cmocka_unit_test_setup_teardown(an_unknown_resource, start, end),
		cmocka_unit_test_setup_teardown(where_a_thread_was_created, start, end),
		cmocka_unit_test_setup_teardown(rows_of_a_label, start, end),
		cmocka_unit_test_setup_teardown(without_memory, start, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
