/* collect/sample/perf/period_pair.c: the pair of periods for an interval. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/sample/perf/period_pair.h"

static void test_one_period(void **state)
{
	(void)state;
	uint64_t periods[PERIODS_MAX];
	assert_int_equal(period_pair_plan(1, false, 0.5, periods), 1);
	assert_int_equal(periods[0], 1);
	assert_int_equal(period_pair_plan(63, false, 0.5, periods), 1);
	assert_int_equal(periods[0], 63);
	assert_int_equal(period_pair_plan(2000000, true, 0.5, periods), 1);
	assert_int_equal(periods[0], 2000000);
}

static void test_large_rates(void **state)
{
	(void)state;
	for (double chance = 0; chance <= 1; chance += 0.03125) {
		for (double n = 64; n < 1e13; n = floor(n * 1.37)) {
			uint64_t periods[PERIODS_MAX];
			assert_int_equal(period_pair_plan((uint64_t)n, false, chance, periods), 2);
			double rates = 1 / (double)periods[0] + 1 / (double)periods[1];
			/* Periods are rounded to whole gticks, which matters for intervals up to about 100. */
			assert_true(fabs(rates * n - 1) < (n < 128 ? 0.002 : 0.001));
			double shorter = (double)periods[0] / n;
			assert_true(shorter > 1.03 && shorter < 1.15 && periods[1] > 7 * n);
		}
	}
	/* Each run has other periods. */
	uint64_t one[PERIODS_MAX], another[PERIODS_MAX];
	period_pair_plan(1000000, false, 0.25, one);
	period_pair_plan(1000000, false, 0.26, another);
	assert_true(one[0] != another[0] && one[1] != another[1]);
}

/* Counts the samples in `length` gticks from `start`, and how many of them are in the first `part` gticks of
 * every `cycle`. */
static void simulate(const uint64_t periods[PERIODS_MAX], uint64_t start, uint64_t length, uint64_t cycle,
		     uint64_t part, uint64_t *in_part, uint64_t *in_all)
{
	*in_part = *in_all = 0;
	for (int event = 0; event < PERIODS_MAX; event++) {
		for (uint64_t at = periods[event]; at <= length; at += periods[event]) {
			*in_part += (start + at) % cycle < part;
			++*in_all;
		}
	}
}

/* For every interval, the number of hits is the number of gticks divided by the interval. */
static void test_hits_are_unbiased(void **state)
{
	(void)state;
	static const uint64_t intervals[] = { 200, 1000, 65536, 1000000 };
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		for (double chance = 0; chance <= 1; chance += 0.125) {
			uint64_t periods[PERIODS_MAX];
			period_pair_plan(intervals[i], false, chance, periods);
			uint64_t hits, all;
			simulate(periods, 0, intervals[i] * 20000, 1, 1, &hits, &all);
			assert_true(fabs((double)hits / 20000 - 1) < 0.001);
		}
	}
}

/* A program does one thing for a third of every 1, 2, 5, 10 or 20 ms, and another thing for the rest; it is
 * sampled each ms. With one period of the same length, all samples would be in one of the two. */
static void test_not_in_step(void **state)
{
	(void)state;
	enum { MS = 1000000, SAMPLES = 100000 };
	static const unsigned cycles_ms[] = { 1, 2, 5, 10, 20 };
	static const double chances[] = {
		0.0131, 0.0977, 0.2222, 0.3701, 0.4441, 0.5973, 0.6662, 0.7337, 0.8113, 0.9719
	};
	for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
		uint64_t periods[PERIODS_MAX];
		period_pair_plan(MS, false, chances[i], periods);
		for (size_t j = 0; j < sizeof(cycles_ms) / sizeof(cycles_ms[0]); j++) {
			uint64_t cycle = (uint64_t)cycles_ms[j] * MS;
			uint64_t part = cycle / 3;
			uint64_t seen, all;
			simulate(periods, 12345, (uint64_t)SAMPLES * MS, cycle, part, &seen, &all);
			assert_true(fabs((double)seen / (double)all - 1.0 / 3) < 0.02);
		}
	}
	/* The test can fail: two equal periods in step with the program do not pass it. */
	const uint64_t in_step[PERIODS_MAX] = { 2 * MS, 2 * MS };
	uint64_t seen, all;
	simulate(in_step, 12345, (uint64_t)SAMPLES * MS, MS, MS / 3, &seen, &all);
	assert_true(fabs((double)seen / (double)all - 1.0 / 3) > 0.3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_period),
		cmocka_unit_test(test_large_rates),
		cmocka_unit_test(test_hits_are_unbiased),
		cmocka_unit_test(test_not_in_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
