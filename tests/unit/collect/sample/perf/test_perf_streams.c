/* Which samples of a thread count, where several attached threads have an event for it. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "collect/sample/perf/streams.h"

enum { THREAD = 7, OTHER = 8, CREATOR = 5 };

static void test_first_owner(void **state)
{
	(void)state;
	struct perf_streams streams = { .items = NULL };
	/* The thread has inherited an event of CPU 0 only; its own are on both. */
	assert_true(perf_streams_take(&streams, THREAD, 0, 0, CREATOR, 1));
	assert_false(perf_streams_take(&streams, THREAD, 0, 0, THREAD, 2));
	assert_true(perf_streams_take(&streams, THREAD, 0, 0, CREATOR, 3));
	assert_true(perf_streams_take(&streams, THREAD, 1, 0, THREAD, 4));
	assert_true(perf_streams_take(&streams, THREAD, 0, 1, THREAD, 5));
	assert_true(perf_streams_take(&streams, OTHER, 0, 0, OTHER, 6));
	/* The same occurrence, with the id of the first event. */
	assert_true(perf_streams_take(&streams, OTHER, 0, 0, OTHER, 10));
	assert_false(perf_streams_take(&streams, OTHER, 0, 0, OTHER, 10));
	perf_streams_release(&streams);
}

static void test_another_thread_of_the_same_id(void **state)
{
	(void)state;
	struct perf_streams streams = { .items = NULL };
	for (pid_t owner = CREATOR; owner < CREATOR + 3; owner++) {
		perf_streams_restart(&streams, THREAD);
		assert_true(perf_streams_take(&streams, THREAD, 0, 0, owner, 7));
		assert_false(perf_streams_take(&streams, THREAD, 0, 0, owner + 1, 8));
	}
	perf_streams_release(&streams);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_owner),
		cmocka_unit_test(test_another_thread_of_the_same_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
