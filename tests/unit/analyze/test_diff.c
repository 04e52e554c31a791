/* Comparisons of recordings: the distributions behind their tests, and how often the tests are wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyses.h"
#include "analyze/statistics.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

/* --- distributions --- */

/* Tables of Student's t: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2. */
static void quantiles_are_students(void **state)
{
	static const struct {
		double tails, freedom, t;
	} rows[] = { { 0.05, 1, 12.706 },     { 0.05, 4, 2.776 },           { 0.01, 4, 4.604 },
		     { 0.002, 4, 7.173 },     { 0.05, 10, 2.228 },          { 0.002, 100, 3.174 },
		     { 0.05, 1e9, 1.959964 }, { 0.05, INFINITY, 1.959964 }, { 0.2, 2, 1.886 } };
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_float_equal(statistics_student_quantile(rows[i].tails, rows[i].freedom), rows[i].t, 6e-4);
		assert_float_equal(statistics_student_tails(-rows[i].t, rows[i].freedom), rows[i].tails,
				   2e-4 * rows[i].tails + 2e-5);
	}
	assert_float_equal(statistics_student_tails(0, 3), 1, 1e-12);
	assert_float_equal(statistics_student_tails(INFINITY, 3), 0, 0);
	/* The distribution of two degrees of freedom is known in closed form. */
	for (double t = 0.1; t < 1e6; t *= 3)
		assert_float_equal(statistics_student_tails(t, 2) / (2 / (2 + t * t + t * sqrt(2 + t * t))), 1, 1e-9);
}

/* Sums over the distribution itself. */
static void tails_are_binomial(void **state)
{
	static const double chances[] = { 0.5, 0.1, 0.93 };
	enum { TRIALS = 12 };
	(void)state;
	for (size_t c = 0; c < sizeof(chances) / sizeof(chances[0]); c++) {
		double p = chances[c];
		for (int hits = 0; hits <= TRIALS; hits++) {
			double above = 0, below = 0, term = pow(1 - p, TRIALS);
			for (int k = 0; k <= TRIALS; k++) {
				above += k >= hits ? term : 0;
				below += k <= hits ? term : 0;
				term *= (double)(TRIALS - k) / (k + 1) * p / (1 - p);
			}
			double expected = fmin(1, 2 * fmin(above, below));
			assert_float_equal(statistics_binomial_tails(hits, TRIALS, p), expected, 1e-9);
		}
	}
}

/* Chances of 0 and 1, and many trials. */
static void tails_have_ends(void **state)
{
	(void)state;
	assert_float_equal(statistics_binomial_tails(1, 10, 0), 0, 0);
	assert_float_equal(statistics_binomial_tails(0, 10, 0), 1, 0);
	assert_float_equal(statistics_binomial_tails(9, 10, 1), 0, 0);
	assert_float_equal(statistics_binomial_tails(10, 10, 1), 1, 0);
	/* The normal approximation with the continuity correction is exact to 1e-3 of the value here. */
	for (int side = -1; side <= 1; side += 2) {
		double tails = statistics_binomial_tails(500000 + side * 1000, 1e6, 0.5);
		assert_float_equal(tails / statistics_normal_tails(999.5 / 500), 1, 1e-3);
		tails = statistics_binomial_tails(700000 + side * 1000, 1e6, 0.7);
		assert_float_equal(tails / statistics_normal_tails(999.5 / sqrt(210000)), 1, 1e-2);
	}
}

static double uniform(struct random *random)
{
	return ((double)random_below(random, UINT64_C(1) << 52) + 0.5) / (double)(UINT64_C(1) << 52);
}

static double normal(struct random *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

/* A chi-squared variable of `freedom` degrees of freedom, divided by them. */
static double chi_ratio(struct random *random, int freedom)
{
	double sum = 0;
	for (int i = 0; i < freedom; i++)
		sum += pow(normal(random), 2);
	return sum / freedom;
}

static void scattered_variances_are_fitted(void **state)
{
	enum { ROWS = 20000, FREEDOM = 4, PRIOR = 10 };
	struct random random = { .state = 3 };
	double *ratios = malloc(ROWS * sizeof(*ratios));
	(void)state;
	assert_non_null(ratios);
	for (size_t i = 0; i < ROWS; i++)
		ratios[i] = 2.5 * chi_ratio(&random, FREEDOM) / chi_ratio(&random, PRIOR);
	struct statistics_prior prior = statistics_fit(ratios, ROWS, FREEDOM);
	assert_float_equal(prior.ratio, 2.5, 0.1);
	assert_float_equal(prior.freedom, PRIOR, 1);
	for (size_t i = 0; i < ROWS; i++)
		ratios[i] = 2.5 * chi_ratio(&random, FREEDOM);
	prior = statistics_fit(ratios, ROWS, FREEDOM);
	assert_float_equal(prior.ratio, 2.5, 0.1);
	assert_true(prior.freedom > 100);
	assert_float_equal(statistics_fit(ratios, 2, FREEDOM).freedom, 0, 0);
	free(ratios);
}

/* Three ratios whose logarithms have the mean 0 and this variance. */
static void spread_ratios(double ratios[3], double variance)
{
	ratios[0] = exp(sqrt(variance));
	ratios[1] = 1;
	ratios[2] = 1 / ratios[0];
}

/* digamma(k / 2) and trigamma(k / 2) of whole k in closed form (DLMF 5.4.14, 5.4.15, 5.15). */
static double digamma_half(int k)
{
	const double gamma = 0.57721566490153286;
	double sum = k % 2 ? -gamma - 2 * log(2) : -gamma;
	for (double x = k % 2 ? 0.5 : 1; x < k / 2.0; x++)
		sum += 1 / x;
	return sum;
}

static double trigamma_half(int k)
{
	double sum = k % 2 ? M_PI * M_PI / 2 : M_PI * M_PI / 6;
	for (double x = k % 2 ? 0.5 : 1; x < k / 2.0; x++)
		sum -= 1 / (x * x);
	return sum;
}

/* The prior has the moments of the ratios' logarithms. */
static void moments_are_exact(void **state)
{
	static const int freedoms[] = { 1, 2, 3, 8, 19, 20, 21, 24, 31, 60 };
	enum { COUNT = sizeof(freedoms) / sizeof(freedoms[0]) };
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		for (size_t k = 0; k < COUNT; k++) {
			int freedom = freedoms[i], prior = freedoms[k];
			double ratios[5] = { 0, 0, 0, 0, INFINITY };
			spread_ratios(ratios, trigamma_half(freedom) + trigamma_half(prior));
			struct statistics_prior fit = statistics_fit(ratios, 5, freedom);
			double log_ratio =
				log(freedom / 2.0) - digamma_half(freedom) + digamma_half(prior) - log(prior / 2.0);
			assert_float_equal(fit.freedom / prior, 1, 2e-8);
			assert_float_equal(log(fit.ratio), log_ratio, 2e-9);
			/* Equal ratios: the prior's own variance is 0. */
			for (int n = 0; n < 3; n++)
				ratios[n] = 7;
			fit = statistics_fit(ratios, 3, freedom);
			assert_true(isinf(fit.freedom));
			assert_float_equal(log(fit.ratio), log(7) + log(freedom / 2.0) - digamma_half(freedom), 2e-10);
		}
	}
	const double few[] = { 3, 0, 5, INFINITY, NAN };
	assert_float_equal(statistics_fit(few, 5, 4).freedom, 0, 0);
	assert_float_equal(statistics_fit(few, 5, 4).ratio, 1, 0);
}

/* The example of Benjamini and Hochberg (1995), section 3.1: 15 p-values, of which four are significant. */
static void false_discoveries_are_limited(void **state)
{
	double p[] = { 0.3240, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298,
		       0.0344, 0.0459, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	(void)state;
	assert_float_equal(statistics_false_discovery_limit(p, 15, 0.05), 0.0095, 0);
	assert_float_equal(statistics_false_discovery_limit(p + 4, 11, 0.05), -1, 0);
	assert_float_equal(statistics_false_discovery_limit(p, 0, 0.05), -1, 0);
	/* A p that equals its limit is significant. */
	assert_float_equal(statistics_false_discovery_limit((double[]){ 0.9, 0.25 }, 2, 0.5), 0.25, 0);
	assert_float_equal(statistics_false_discovery_limit((double[]){ 0.5, 0.25 }, 2, 0.5), 0.5, 0);
	assert_float_equal(statistics_false_discovery_limit((double[]){ 0.9, 0.26 }, 2, 0.5), -1, 0);
}

/* --- recordings --- */

enum { FUNCTIONS = 40, SIDE_MAX = 5, SAMPLES = 2000 };

/* The spread of the totals of single runs below: their noise, and the noise of 2000 hits. */
static const double SPREAD = 0.055;

/* How the runs of a program differ. */
struct noise {
	double total, functions; /* standard deviations of the logarithms of the total, and of each function's time */
};

struct recording {
	struct paths paths;
	struct view *view;
	struct path_list *list;
};

/* Samples one run. Function i takes a share that falls with i; function `changed` takes `factor` times as much. */
static void record_run(struct recording *recording, struct random *random, const struct noise *noise, int changed,
		       double factor)
{
	double times[FUNCTIONS], drift = exp(noise->total * normal(random));
	double scale = 0;
	for (int i = 0; i < FUNCTIONS; i++)
		scale += 1.0 / (i + 2);
	paths_start(&recording->paths, RESOURCE_MERGED);
	for (int i = 0; i < FUNCTIONS; i++) {
		times[i] = SAMPLES / scale / (i + 2) * drift * exp(noise->functions * normal(random));
		times[i] *= i == changed ? factor : 1;
		char stack[32];
		/* As many hits as a Poisson process has in this time, by the normal approximation. */
		double hits = round(times[i] + sqrt(times[i]) * normal(random));
		snprintf(stack, sizeof(stack), "main;f%d", i);
		if (hits >= 1)
			paths_add(&recording->paths, stack, (uint64_t)hits);
	}
	recording->view = paths_view(&recording->paths, VIEW_FUNCTION);
	recording->list = paths_down(recording->view, "main");
}

/* Compares `counts` runs of two programs that differ in function `changed` (-1: in none), if the second takes `factor` times as
 * long there. The caller frees the list. */
static struct diff_list *compare_runs(struct random *random, const size_t counts[DIFF_SIDES], const struct noise *noise,
				      int changed, double factor)
{
	static struct recording recordings[2 * SIDE_MAX];
	struct diff_run runs[2 * SIDE_MAX] = { 0 };
	struct error error;
	size_t count = counts[DIFF_A] + counts[DIFF_B];
	for (size_t i = 0; i < count; i++) {
		record_run(&recordings[i], random, noise, i < counts[DIFF_A] ? -1 : changed, factor);
		runs[i] =
			(struct diff_run){ .view = recordings[i].view, .paths = recordings[i].list, .spread = SPREAD };
	}
	struct diff_list *list = analyze_diff(runs, counts, &error);
	assert_non_null(list);
	assert_int_equal(diff_mark(&list, 1, DIFF_CHANCE), 0);
	for (size_t i = 0; i < count; i++) {
		path_list_free(recordings[i].list);
		view_free(recordings[i].view);
		paths_end(&recordings[i].paths);
	}
	return list;
}

static bool is_marked(const struct diff_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		const uint32_t *labels = path_labels(list->paths, &entry->path);
		if (strcmp(list->names[labels[entry->path.length - 1]], name) == 0)
			return entry->significant;
	}
	return false;
}

static size_t marks(const struct diff_list *list)
{
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += list->entries[i].significant;
	return count;
}

/* At most 5 % of the comparisons of equal programs may have a mark: 5 of 100 are expected at most, and with a probability of
 * 1e-7 there are more than 20. */
static void equal_programs_are_rarely_marked(void **state)
{
	static const struct {
		size_t counts[DIFF_SIDES];
		struct noise noise;
	} rows[] = { { { 1, 1 }, { 0.05, 0 } },    { { 2, 2 }, { 0.05, 0.03 } }, { { 3, 3 }, { 0.02, 0.05 } },
		     { { 3, 3 }, { 0.10, 0.10 } }, { { 5, 5 }, { 0.02, 0 } },    { { 1, 4 }, { 0.05, 0.05 } } };
	enum { COMPARISONS = 100, MARKED_MAX = 20 };
	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct random random = { .state = 17 + row };
		size_t marked = 0, inside = 0, all = 0;
		for (size_t i = 0; i < COMPARISONS; i++) {
			struct diff_list *list = compare_runs(&random, rows[row].counts, &rows[row].noise, -1, 1);
			marked += marks(list) > 0;
			for (size_t k = 0; k < list->count && !isnan(list->entries[k].error); k++, all++)
				inside += fabs(list->entries[k].gticks[DIFF_B] - list->entries[k].gticks[DIFF_A]) <=
					  list->entries[k].error;
			diff_list_free(list);
		}
		assert_true(marked <= MARKED_MAX);
		/* The intervals contain the true change, 0, in 95 % of the cases or more. */
		assert_true(all == 0 || (double)inside / (double)all > 0.93);
	}
}

static void a_changed_function_is_marked(void **state)
{
	static const struct noise noise = { 0.02, 0.02 };
	enum { COMPARISONS = 50 };
	struct random random = { .state = 5 };
	size_t found = 0, others = 0, all = 0;
	(void)state;
	for (size_t i = 0; i < COMPARISONS; i++) {
		struct diff_list *list = compare_runs(&random, (size_t[]){ 4, 4 }, &noise, 3, 0.5);
		found += is_marked(list, "f3");
		all += marks(list);
		others += marks(list) - is_marked(list, "f3") - is_marked(list, "main");
		diff_list_free(list);
	}
	assert_true(found >= COMPARISONS - 2);
	/* A twentieth of the marks is expected to be chance, at most: with 1e-7, no more than a sixth of so few. */
	assert_true(others * 6 <= all);
}

/* An entry that doubled exceeds a limit of 50 %, and no other marked entry does. */
static void exceeding_entries_are_kept(void **state)
{
	static const struct noise noise = { 0.02, 0.02 };
	struct random random = { .state = 7 };
	(void)state;
	struct diff_list *list = compare_runs(&random, (size_t[]){ 4, 4 }, &noise, 3, 2);
	assert_true(list->count > 1);
	assert_int_equal(diff_gate(list, 3, 0), 0);
	assert_int_equal(diff_gate(list, 0.5, 0), 1);
	diff_keep_exceeding(list);
	assert_int_equal(list->count, 1);
	assert_true(is_marked(list, "f3"));
	diff_list_free(list);
}

/* The totals' interval contains the true change, a quarter less, in 95 of 100 comparisons. */
static void totals_have_errors(void **state)
{
	static const struct noise noise = { 0.05, 0 };
	enum { COMPARISONS = 200 };
	struct random random = { .state = 6 };
	size_t inside = 0;
	(void)state;
	for (size_t i = 0; i < COMPARISONS; i++) {
		struct diff_list *list = compare_runs(&random, (size_t[]){ 3, 3 }, &noise, 0, 0);
		double scale = 0;
		for (int k = 0; k < FUNCTIONS; k++)
			scale += 1.0 / (k + 2);
		inside += fabs(diff_total_change(list) + 0.5 / scale) <= list->total_error;
		assert_int_equal(list->runs[DIFF_A], 3);
		diff_list_free(list);
	}
	/* Fewer than 171 of 200 intervals of 95 % are right with a probability of 1e-7. */
	assert_true(inside >= 171);
}

/* Exact amounts that are equal in all recordings of a side have no noise. */
static void exact_recordings_are_compared(void **state)
{
	struct recording recordings[4];
	struct diff_run runs[4];
	struct error error;
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		paths_start(&recordings[i].paths, RESOURCE_EXACT);
		paths_add(&recordings[i].paths, "main;same", 100);
		paths_add(&recordings[i].paths, "main;more", i < 2 ? 100 : 101);
		paths_add(&recordings[i].paths, "main;varies", 1000 + 50 * (i % 2));
		recordings[i].view = paths_view(&recordings[i].paths, VIEW_FUNCTION);
		recordings[i].list = paths_down(recordings[i].view, "main");
		runs[i] = (struct diff_run){ .view = recordings[i].view, .paths = recordings[i].list };
	}
	struct diff_list *list = analyze_diff(runs, (size_t[]){ 2, 2 }, &error);
	assert_non_null(list);
	assert_int_equal(diff_mark(&list, 1, DIFF_CHANCE), 0);
	assert_false(is_marked(list, "same"));
	assert_false(is_marked(list, "varies"));
	assert_float_equal(diff_total_change(list), 1.0 / 1225, 1e-9);
	diff_list_free(list);
	for (size_t number = 1; number < 200; number++) {
		alloc_fail_start(number);
		list = analyze_diff(runs, (size_t[]){ 2, 2 }, &error);
		if (list)
			diff_mark(&list, 1, DIFF_CHANCE);
		diff_list_free(list);
		alloc_fail_stop();
	}
	for (size_t i = 0; i < 4; i++) {
		path_list_free(recordings[i].list);
		view_free(recordings[i].view);
		paths_end(&recordings[i].paths);
	}
}

/* Amounts that are scaled to one total differ by rounding only. */
static void equal_shares_are_equal(void **state)
{
	struct recording recordings[6];
	struct diff_run runs[6];
	struct error error;
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		paths_start(&recordings[i].paths, RESOURCE_MERGED);
		paths_add(&recordings[i].paths, "main;same", 1001 + 7 * (unsigned)i);
		recordings[i].view = paths_view(&recordings[i].paths, VIEW_FUNCTION);
		recordings[i].list = paths_down(recordings[i].view, "main");
		runs[i] = (struct diff_run){ .view = recordings[i].view,
					     .paths = recordings[i].list,
					     .scaled_to = 1023.7 };
	}
	struct diff_list *list = analyze_diff(runs, (size_t[]){ 5, 1 }, &error);
	assert_non_null(list);
	assert_int_equal(diff_mark(&list, 1, DIFF_CHANCE), 0);
	assert_false(is_marked(list, "same"));
	assert_false(is_marked(list, "main"));
	diff_list_free(list);
	for (size_t i = 0; i < 6; i++) {
		path_list_free(recordings[i].list);
		view_free(recordings[i].view);
		paths_end(&recordings[i].paths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_students),
		cmocka_unit_test(tails_are_binomial),
		cmocka_unit_test(tails_have_ends),
		cmocka_unit_test(scattered_variances_are_fitted),
		cmocka_unit_test(moments_are_exact),
		cmocka_unit_test(false_discoveries_are_limited),
		cmocka_unit_test(equal_programs_are_rarely_marked),
		cmocka_unit_test(a_changed_function_is_marked),
		cmocka_unit_test(exceeding_entries_are_kept),
		cmocka_unit_test(totals_have_errors),
		cmocka_unit_test(exact_recordings_are_compared),
		cmocka_unit_test(equal_shares_are_equal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
