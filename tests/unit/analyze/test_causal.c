/* The gains of virtual speed-ups from experiments of known results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/causal.h"
#include "support/alloc_fail.h"

enum { MOST = 64 };

static struct experiment items[MOST];
static char outer[] = "main", inner[] = "main\nwork";
static struct experiment_path paths[] = { { outer, 100 }, { inner, 60 } };

static struct experiments experiments_of(size_t count)
{
	return (struct experiments){ .items = items, .count = count, .paths = paths, .path_count = 2, .hits = 100 };
}

/* Without a speed-up, a visit takes 10 ns times `slower`. With one of p percent, it takes p percent of `gain` less, and the pauses beside
 * that. Each second experiment has a little more or less progress. */
static void fill(size_t count, double gain, double slower)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t percent = i % 2 ? EXPERIMENT_STEP * (1 + (uint32_t)i / 2 % EXPERIMENT_LEVELS) : 0;
		double faster = percent * gain / EXPERIMENT_MOST;
		double period = 10 * (i < count / 2 ? 1 : slower) * (1 - faster);
		items[i] = (struct experiment){ .path = 1,
						.percent = percent,
						.duration_ns = 1000 * period + 500,
						.delay_ns = 500,
						.progress = 1000 + (i / 10 % 2 ? 3 : -3) };
	}
}

static void the_gain_is_that_of_the_effective_time(void **state)
{
	struct causal_result result;
	struct error error;
	(void)state;
	fill(41, 0.5, 1);
	struct experiments experiments = experiments_of(41);
	assert_int_equal(causal_analyze(&experiments, &result, &error), 0);
	assert_int_equal(result.count, 1);
	assert_string_equal(result.curves[0].path, inner);
	assert_float_equal(result.curves[0].share, 0.6, 1e-9);
	assert_float_equal(result.curves[0].slope, 0.5, 0.02);
	assert_true(result.curves[0].slope_error > 0 && result.curves[0].slope_error < 0.02);
	for (int i = 0; i < EXPERIMENT_LEVELS; i++) {
		const struct causal_point *point = &result.curves[0].points[i];
		assert_int_equal(point->experiments, 4);
		assert_float_equal(point->gain, 0.1 * (i + 1), 0.01);
		assert_true(point->error > 0 && point->error < 0.02);
	}
	assert_int_equal(result.experiments, 41);
	assert_int_equal(result.base_experiments, 21);
	causal_result_release(&result);
}

/* The second half of the program is three times slower. Only the experiments where that begins are off. */
static void phases_of_the_program_are_left_out(void **state)
{
	struct causal_result result;
	struct error error;
	(void)state;
	fill(61, 0.5, 3);
	struct experiments experiments = experiments_of(61);
	assert_int_equal(causal_analyze(&experiments, &result, &error), 0);
	assert_float_equal(result.curves[0].slope, 0.5, 0.1);
	causal_result_release(&result);
}

static void greater_slopes_come_first(void **state)
{
	struct causal_result result;
	struct error error;
	(void)state;
	fill(41, 0.5, 1);
	for (size_t i = 0; i < 41; i++) {
		items[i].path = i % 4 == 1;
		if (items[i].percent && items[i].path == 0)
			items[i].duration_ns = 1000 * 10 + 500; /* no gain */
	}
	struct experiments experiments = experiments_of(41);
	assert_int_equal(causal_analyze(&experiments, &result, &error), 0);
	assert_int_equal(result.count, 2);
	assert_string_equal(result.curves[0].path, inner);
	assert_float_equal(result.curves[1].slope, 0, 0.02);
	causal_result_release(&result);
}

/* The experiments without a speed-up beside number 21 ended at once: the next experiments beyond them give the rate. */
static void the_rate_is_that_of_the_nearest_with_progress(void **state)
{
	struct causal_result result;
	struct error error;
	(void)state;
	fill(41, 0.5, 1);
	for (size_t i = 20; i <= 22; i += 2) {
		items[i].duration_ns = items[i].delay_ns;
		items[i].progress = 0;
	}
	struct experiments experiments = experiments_of(41);
	assert_int_equal(causal_analyze(&experiments, &result, &error), 0);
	assert_float_equal(result.curves[0].slope, 0.5, 0.02);
	for (int i = 0; i < EXPERIMENT_LEVELS; i++)
		assert_float_equal(result.curves[0].points[i].gain, 0.1 * (i + 1), 0.01);
	causal_result_release(&result);
}

static void refused(size_t count, const char *part)
{
	struct causal_result result;
	struct error error = { 0 };
	struct experiments experiments = experiments_of(count);
	assert_int_equal(causal_analyze(&experiments, &result, &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, part));
	causal_result_release(&result);
}

static void too_little_is_refused(void **state)
{
	(void)state;
	refused(0, "ended before");
	fill(41, 0.5, 1);
	refused(1, "too few");
	refused(3, "too few"); /* each group has one experiment */
	for (size_t i = 0; i < 41; i++)
		items[i].progress = 0;
	refused(41, "no progress");
}

static void strange_experiments_are_left_out(void **state)
{
	struct causal_result result;
	struct error error;
	(void)state;
	fill(43, 0.5, 1);
	items[41].path = 2;
	items[39].percent = 30;
	items[37].percent = 1000;
	struct experiments experiments = experiments_of(43);
	assert_int_equal(causal_analyze(&experiments, &result, &error), 0);
	assert_int_equal(result.count, 1);
	assert_float_equal(result.curves[0].slope, 0.5, 0.02);
	causal_result_release(&result);
}

static void analyze_once(void)
{
	struct causal_result result;
	struct error error;
	struct experiments experiments = experiments_of(41);
	int code = causal_analyze(&experiments, &result, &error);
	assert_true(code == 0 || code == ERROR_MEMORY);
	causal_result_release(&result);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	fill(41, 0.5, 1);
	ALLOC_FAIL_EACH(analyze_once());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gain_is_that_of_the_effective_time),
		cmocka_unit_test(phases_of_the_program_are_left_out),
		cmocka_unit_test(greater_slopes_come_first),
		cmocka_unit_test(the_rate_is_that_of_the_nearest_with_progress),
		cmocka_unit_test(too_little_is_refused),
		cmocka_unit_test(strange_experiments_are_left_out),
		cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
