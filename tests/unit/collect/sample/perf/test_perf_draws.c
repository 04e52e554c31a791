/* collect/sample/perf/draws.c: one event of each interval, at positions that differ over the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collect/sample/perf/draws.h"

static struct resource_request resources[3];
static struct backend_request request = { .resources = resources };

static void ask(const char *first, const char *second, const char *third)
{
	const char *words[] = { first, second, third };
	struct error error;
	request.resource_count = 0;
	for (size_t i = 0; i < 3 && words[i]; i++, request.resource_count++)
		assert_int_equal(resource_parse(words[i], &resources[i], &error), 0);
}

static void test_which_are_drawn(void **state)
{
	(void)state;
	ask("page-faults/10", "page-faults/1", "context-switches/2");
	assert_true(perf_draws_from(&resources[0]) && !perf_draws_from(&resources[1]) &&
		    perf_draws_from(&resources[2]));
	assert_true(perf_draws_any(&request));
	ask("cpu/1ms", "cycles/1000000", "page-faults/1");
	for (size_t i = 0; i < 3; i++)
		assert_false(perf_draws_from(&resources[i]));
	assert_false(perf_draws_any(&request));
}

/* Each interval has one hit. In a cycle of as many events, each position is hit about as often as each other: with 200
 * hits a position, fewer than 120 have a probability of 1e-9. */
static void test_one_of_each_interval(void **state)
{
	enum { INTERVAL = 10, EACH = 200 };
	struct perf_draws draws;
	unsigned hits_at[INTERVAL] = { 0 };
	(void)state;
	ask("page-faults/10", "minor-faults/7", NULL);
	perf_draws_init(&draws, &request);
	for (size_t interval = 0; interval < EACH * INTERVAL; interval++) {
		uint64_t hits = 0;
		for (size_t at = 0; at < INTERVAL; at++) {
			uint64_t hit = perf_draws_next(&draws, &request, 0);
			hits += hit;
			hits_at[at] += (unsigned)hit;
			(void)perf_draws_next(&draws, &request, 1);
		}
		assert_int_equal(hits, 1);
	}
	for (size_t at = 0; at < INTERVAL; at++)
		assert_in_range(hits_at[at], 120, 300);
}

static void test_each_event(void **state)
{
	struct perf_draws draws;
	(void)state;
	ask("page-faults/1", NULL, NULL);
	perf_draws_init(&draws, &request);
	for (int i = 0; i < 100; i++)
		assert_int_equal(perf_draws_next(&draws, &request, 0), 1);
}

static void test_lost(void **state)
{
	(void)state;
	ask("page-faults/10", "page-faults/1", NULL);
	assert_int_equal(perf_draws_lost(&resources[0], 4), 0);
	assert_int_equal(perf_draws_lost(&resources[0], 5), 1);
	assert_int_equal(perf_draws_lost(&resources[0], 1000), 100);
	assert_int_equal(perf_draws_lost(&resources[1], 1000), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_are_drawn),
		cmocka_unit_test(test_one_of_each_interval),
		cmocka_unit_test(test_each_event),
		cmocka_unit_test(test_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
