/* The rate of the agent under its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cmd/agent.h"

static const struct agent_use limits = { .cpu_share = 0.01, .memory_bytes = 100 };

static double next(double share, double cpu_share, uint64_t memory_bytes)
{
	const struct agent_use used = { cpu_share, memory_bytes };
	return agent_rate_next(share, 1.0 / 16, &used, &limits);
}

/* Above nine tenths of either limit the rate falls by half, to the least one; between that and one half it stays. */
static void falls_before_a_limit(void **state)
{
	(void)state;
	assert_float_equal(next(1, 0.0091, 0), 0.5, 0);
	assert_float_equal(next(1, 0, 91), 0.5, 0);
	assert_float_equal(next(0.1, 1, 0), 1.0 / 16, 0);
	assert_float_equal(next(0.5, 0.0089, 89), 0.5, 0);
	assert_float_equal(next(0.5, 0.0051, 0), 0.5, 0);
}

static void rises_step_by_step(void **state)
{
	(void)state;
	assert_float_equal(next(0.5, 0.0049, 49), 0.75, 0);
	assert_float_equal(next(0.75, 0.001, 0), 1, 0);
	assert_float_equal(next(0.5, 0.001, 51), 0.5, 0);
	assert_float_equal(next(1, 0, 0), 1, 0);
}

/* One step up from below one half of a limit stays below the part at which the rate falls, so that it does not swing. */
static void does_not_swing(void **state)
{
	(void)state;
	double share = 1;
	for (int i = 0; i < 100; i++) {
		double after = next(share, 0.02 * share, 0);
		assert_true(i < 2 || after == share);
		share = after;
	}
}

static void limits_of_zero_are_none(void **state)
{
	(void)state;
	const struct agent_use none = { 0 }, used = { 10, 1000 };
	assert_float_equal(agent_rate_next(1, 0.1, &used, &none), 1, 0);
	assert_float_equal(agent_rate_next(0.5, 0.1, &used, &none), 0.75, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(falls_before_a_limit),
		cmocka_unit_test(rises_step_by_step),
		cmocka_unit_test(does_not_swing),
		cmocka_unit_test(limits_of_zero_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
