/* The choice between measured builds (optimize/builds.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "optimize/builds.h"

enum { TURNS = 4, BUILDS = 3 };

/* Each turn on a slower machine than the one before: ratios of turns do not depend on that. */
static struct optimize_times times_of(double *seconds, const double *builds, double noise)
{
	for (size_t turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < BUILDS; i++)
			seconds[turn * BUILDS + i] =
				builds[i] * (double)(1 + turn) *
				((i == 2 ? turn < 2 : (turn + i) % 2 == 0) ? 1 + noise : 1 - noise);
	return (struct optimize_times){ .seconds = seconds, .turns = TURNS, .builds = BUILDS };
}

static size_t chosen(double first, double second, double third, double noise)
{
	double seconds[TURNS * BUILDS];
	const double builds[BUILDS] = { first, second, third };
	struct optimize_times times = times_of(seconds, builds, noise);
	return optimize_choose(&times);
}

static void gain_is_the_ratio_of_turns(void **state)
{
	(void)state;
	double seconds[TURNS * BUILDS];
	struct optimize_times times = times_of(seconds, (const double[BUILDS]){ 3, 2, 6 }, 0);
	struct optimize_gain gain = optimize_gain_of(&times, 0, 1);
	assert_float_equal(gain.ratio, 1.5, 1e-6);
	assert_float_equal(gain.low, 1.5, 1e-6);
	assert_float_equal(gain.before_s, 7.5, 1e-6);
	assert_float_equal(gain.after_s, 5, 1e-6);
	assert_float_equal(optimize_gain_of(&times, 0, 2).high, 0.5, 1e-6);
	times = times_of(seconds, (const double[BUILDS]){ 3, 2, 6 }, 0.01);
	gain = optimize_gain_of(&times, 0, 1);
	/* Logarithms +-2 atanh(0.01) around log 1.5: standard error 2 atanh(0.01) / sqrt(3), Student's t 3.182 for 3 degrees of freedom. */
	assert_float_equal(gain.ratio, 1.5, 1e-4);
	assert_float_equal(gain.high, 1.5 * 1.03743, 1e-3);
	assert_float_equal(gain.low, 1.5 / 1.03743, 1e-3);
}

/* A later build replaces an earlier one only if it is faster beyond the error. */
static void simpler_build_is_kept_without_a_gain(void **state)
{
	(void)state;
	assert_int_equal(chosen(1, 1, 1, 0.01), 0);
	assert_int_equal(chosen(1, 1.1, 1.2, 0), 0);
	assert_int_equal(chosen(1, 0.99, 0.98, 0.01), 0);
	assert_int_equal(chosen(1, 0.8, 0.79, 0.01), 1);
	assert_int_equal(chosen(1, 0.8, 0.6, 0.01), 2);
	assert_int_equal(chosen(1, 1.3, 0.7, 0.01), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gain_is_the_ratio_of_turns),
		cmocka_unit_test(simpler_build_is_kept_without_a_gain),
	};
	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
