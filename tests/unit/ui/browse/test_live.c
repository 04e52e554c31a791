/* The part of a window that came since the profile before, of which `cpprof top` shows the percentage of one processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ui/browse/browse.h"
#include "ui/browse/browser.h"

static const uint64_t SECOND = 1000000000, MILLISECOND = 1000000;
static const struct browse_feed feed;

enum { CPU, FAULTS };

/* A window of 10 s that ends at 100 s, of CPU time by the millisecond, and of page faults. */
static int start(void **state)
{
	struct browser *browser = calloc(1, sizeof(*browser));
	struct profile *profile = profile_new();
	const char *const names[] = { "cpu", "page-faults" };
	for (size_t i = 0; i < 2; i++) {
		const struct profile_resource row = { .name = (uint32_t)profile_add_string(profile, names[i]),
						      .interval = MILLISECOND };
		assert_int_equal(profile_add_resource(profile, &row), i);
	}
	profile->start_ns = 90 * SECOND;
	profile->end_ns = 100 * SECOND;
	browser->profiles[0] = profile;
	browser->feed = &feed;
	*state = browser;
	return 0;
}

static int end(void **state)
{
	struct browser *browser = *state;
	profile_free((struct profile *)browser->profiles[0]);
	free(browser);
	return 0;
}

static double recent(const struct browser *browser, struct view_options selection, uint64_t *from_ns)
{
	struct view_options options = { 0 };
	double per_hit = live_recent(browser, &selection, &options);
	*from_ns = options.from_ns;
	return per_hit;
}

static void a_hit_is_a_part_of_one_processor(void **state)
{
	struct browser *browser = *state;
	uint64_t from_ns;
	browser->since_ns = 98 * SECOND;
	/* 1 ms of 2 s */
	assert_float_equal(recent(browser, (struct view_options){ .resource = CPU }, &from_ns), 0.05, 1e-12);
	assert_int_equal(from_ns, 8 * SECOND);
	/* Without a profile before, or with one before the window: 1 ms of all 10 s. */
	for (uint64_t since = 0; since < 2; since++) {
		browser->since_ns = since * 50 * SECOND;
		assert_float_equal(recent(browser, (struct view_options){ .resource = CPU }, &from_ns), 0.01, 1e-12);
		assert_int_equal(from_ns, 0);
	}
}

static void a_selection_of_time_is_kept(void **state)
{
	struct browser *browser = *state;
	uint64_t from_ns;
	browser->since_ns = 98 * SECOND;
	const struct view_options late = { .resource = CPU, .from_ns = 9 * SECOND };
	assert_float_equal(recent(browser, late, &from_ns), 0.1, 1e-12);
	assert_int_equal(from_ns, 9 * SECOND);
	const struct view_options past = { .resource = CPU, .from_ns = SECOND, .to_ns = 3 * SECOND };
	assert_float_equal(recent(browser, past, &from_ns), 0, 0);
}

static void other_profiles_have_no_percentage(void **state)
{
	struct browser *browser = *state;
	uint64_t from_ns;
	assert_float_equal(recent(browser, (struct view_options){ .resource = FAULTS }, &from_ns), 0, 0);
	browser->feed = NULL;
	assert_float_equal(recent(browser, (struct view_options){ .resource = CPU }, &from_ns), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_hit_is_a_part_of_one_processor, start, end),
		cmocka_unit_test_setup_teardown(a_selection_of_time_is_kept, start, end),
		cmocka_unit_test_setup_teardown(other_profiles_have_no_percentage, start, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
