/* The rate of the agent under its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cmd/agent.h"

static const struct agent_use limits = { .cpu_share = 0.01, .memory_bytes = 100 };

static uint32_t next(uint32_t weight, double cpu_share, uint64_t memory_bytes)
{
	const struct agent_use used = { cpu_share, memory_bytes };
	return agent_rate_next(weight, 19, &used, &limits);
}

/* Above nine tenths of either limit the rate falls by half, to 1 Hz or a little more; between that and four tenths it stays. */
static void falls_before_a_limit(void **state)
{
	(void)state;
	assert_int_equal(next(1, 0.0091, 0), 2);
	assert_int_equal(next(1, 0, 91), 2);
	assert_int_equal(next(16, 1, 0), 16);
	assert_int_equal(next(2, 0.0089, 89), 2);
	assert_int_equal(next(2, 0.0041, 0), 2);
}

static void rises_step_by_step(void **state)
{
	(void)state;
	assert_int_equal(next(4, 0.0039, 39), 2);
	assert_int_equal(next(2, 0.001, 0), 1);
	assert_int_equal(next(2, 0.001, 41), 2);
	assert_int_equal(next(1, 0, 0), 1);
}

/* The use is proportional to the rate: the rate falls until it is below the limit, and stays there. */
static void does_not_swing(void **state)
{
	(void)state;
	for (double at_full = 0.001; at_full < 0.2; at_full += 0.001) {
		uint32_t weight = 1;
		for (int i = 0; i < 10; i++) {
			uint32_t after = next(weight, at_full / weight, 0);
			assert_true(i < 5 || after == weight);
			weight = after;
		}
		assert_true(at_full / weight <= limits.cpu_share || weight == 16);
	}
}

static void limits_of_zero_are_none(void **state)
{
	(void)state;
	const struct agent_use none = { 0 }, used = { 10, 1000 };
	assert_int_equal(agent_rate_next(1, 19, &used, &none), 1);
	assert_int_equal(agent_rate_next(4, 19, &used, &none), 2);
	assert_int_equal(agent_rate_next(1, 0.5, &used, &limits), 1);
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
