/* analyze/diff_test.c: the figures of a comparison, against the formulas of docs/definitions.md, "Errors". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyses.h"
#include "analyze/statistics.h"
#include "support/paths_profile.h"

enum { RUNS_MAX = 25, ENTRIES = 8 };

/* Recordings whose entry i is the function of one letter, 'a' + i. */
struct comparison {
	size_t counts[DIFF_SIDES];
	uint64_t interval[RUNS_MAX];
	uint64_t hits[RUNS_MAX][ENTRIES];
	double spread;
};

/* Recording i has the kind kinds[i % count]. */
static struct diff_list *compare_kinds(const struct comparison *comparison, const enum resource_kind *kinds,
				       size_t kind_count)
{
	struct paths paths[RUNS_MAX];
	struct view *views[RUNS_MAX];
	struct diff_run runs[RUNS_MAX] = { 0 };
	struct error error;
	size_t count = comparison->counts[DIFF_A] + comparison->counts[DIFF_B];
	for (size_t run = 0; run < count; run++) {
		paths_start(&paths[run], kinds[run % kind_count]);
		paths[run].profile->resources[0].interval = comparison->interval[run];
		for (int i = 0; i < ENTRIES; i++)
			if (comparison->hits[run][i] > 0)
				paths_add(&paths[run], (char[]){ (char)('a' + i), 0 }, comparison->hits[run][i]);
		views[run] = paths_view(&paths[run], VIEW_FUNCTION);
		runs[run] = (struct diff_run){ .view = views[run],
					       .paths = analyze_body(views[run], &error),
					       .spread = comparison->spread };
	}
	struct diff_list *list = analyze_diff(runs, comparison->counts, &error);
	assert_non_null(list);
	assert_int_equal(diff_mark(&list, 1, DIFF_CHANCE), 0);
	for (size_t run = 0; run < count; run++) {
		path_list_free((struct path_list *)runs[run].paths);
		view_free(views[run]);
		paths_end(&paths[run]);
	}
	return list;
}

static struct diff_list *compare(const struct comparison *comparison, enum resource_kind kind)
{
	return compare_kinds(comparison, &kind, 1);
}

static const struct diff_entry *entry_of(const struct diff_list *list, int index)
{
	for (size_t i = 0; i < list->count; i++)
		if (*list->names[*path_labels(list->paths, &list->entries[i].path)] == 'a' + index)
			return &list->entries[i];
	fail_msg("no entry %c", 'a' + index);
	return NULL;
}

static void assert_near(double value, double expected)
{
	if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
		fail_msg("%.12g, not %.12g", value, expected);
}

/* Samples of a run, and the total and the share of an entry on a side. */
static double total_of(const struct comparison *c, size_t run)
{
	double total = 0;
	for (int i = 0; i < ENTRIES; i++)
		total += (double)c->hits[run][i];
	return total;
}

/* Amounts are compared: the interval of B is 2, so an equal amount has half as many samples there. */
static void single_recordings_are_compared(void **state)
{
	/* Few samples of an entry: 6 and 7, of which a third is expected in B, are the limit of a test. */
	const struct comparison c = { .counts = { 1, 1 },
				      .interval = { 1, 2 },
				      .hits = { { 30, 61, 0, 0, 4, 6, 0, 0 }, { 60, 120, 99, 20, 0, 0, 7, 1 } },
				      .spread = 0.1 };
	double n_a = 101, n_b = 307, quantile = statistics_student_quantile(0.05, INFINITY);
	(void)state;
	struct diff_list *list = compare(&c, RESOURCE_MERGED);
	assert_int_equal(list->count, 8);
	assert_false(list->is_exact);
	assert_near(list->spread, 0.1);
	assert_near(list->totals[DIFF_A], n_a);
	assert_near(list->totals[DIFF_B], 2 * n_b);
	assert_near(list->total_error, 2 * n_b / n_a * 0.1 * sqrt(2) * quantile);
	assert_near(diff_total_change(list), 2 * n_b / n_a - 1);
	for (int i = 0; i < 8; i++) {
		const struct diff_entry *entry = entry_of(list, i);
		double a = (double)c.hits[0][i], b = (double)c.hits[1][i];
		double sampling = a * (1 - a / n_a) + 4 * b * (1 - b / n_b);
		double deviation = sqrt(sampling + 0.01 * (a * a + 4 * b * b)), z = (2 * b - a) / deviation;
		double exact = statistics_binomial_tails(b, a + b, 1 / 3.0);
		bool is_tested = pow(1 / 3.0, a + b) <= 0.001, are_few = (a + b) / 3 < 10;
		assert_near(entry->fraction[DIFF_A], a / n_a);
		assert_near(entry->fraction[DIFF_B], b / n_b);
		assert_near(entry->gticks[DIFF_A], a);
		assert_near(entry->gticks[DIFF_B], 2 * b);
		assert_int_equal(entry->hits[DIFF_B], b);
		assert_near(entry->error, deviation * quantile);
		assert_near(entry->z, z);
		assert_near(entry->p, !is_tested ? NAN
				      : are_few  ? fmax(exact, statistics_normal_tails(z))
						 : statistics_normal_tails(z));
	}
	assert_near(entry_of(list, 5)->p, NAN);
	assert_true(entry_of(list, 6)->p >= 2 * pow(1 / 3.0, 7));
	double tested[ENTRIES];
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (!isnan(list->entries[i].p))
			tested[count++] = list->entries[i].p;
	assert_int_equal(count, 5);
	double limit = statistics_false_discovery_limit(tested, count, 0.05);
	for (size_t i = 0; i < list->count; i++)
		assert_int_equal(list->entries[i].significant, list->entries[i].p <= limit);
	for (size_t i = 1; i < list->count; i++) { /* by decreasing change */
		const struct diff_entry *entry = &list->entries[i];
		assert_true(fabs(entry->gticks[DIFF_B] - entry->gticks[DIFF_A]) <=
			    fabs(entry[-1].gticks[DIFF_B] - entry[-1].gticks[DIFF_A]));
	}
	diff_list_free(list);
}

/* With 10 expected samples of an entry on each side, the normal distribution is enough. */
static void ten_expected_samples_are_enough(void **state)
{
	const struct comparison c = { .counts = { 1, 1 },
				      .interval = { 1, 1 },
				      .hits = { { 60, 15, 25 }, { 236, 5, 39 } } };
	(void)state;
	struct diff_list *list = compare(&c, RESOURCE_MERGED);
	assert_near(entry_of(list, 1)->p, statistics_normal_tails(entry_of(list, 1)->z));
	diff_list_free(list);
	const struct comparison fewer = { .counts = { 1, 1 },
					  .interval = { 1, 1 },
					  .hits = { { 60, 15, 25 }, { 236, 4, 40 } } };
	list = compare(&fewer, RESOURCE_MERGED);
	assert_near(entry_of(list, 1)->p, statistics_binomial_tails(4, 19, 0.5));
	assert_true(entry_of(list, 1)->p > statistics_normal_tails(entry_of(list, 1)->z));
	diff_list_free(list);
}

/* The names of the figures are as in docs/definitions.md. */
static void assert_several(const struct comparison *c)
{
	size_t m = c->counts[DIFF_A], runs = m + c->counts[DIFF_B];
	double f = (double)runs - 2, count[DIFF_SIDES] = { (double)m, (double)(runs - m) };
	double total[DIFF_SIDES] = { 0 }, rate[DIFF_SIDES] = { 0 }, c2 = 0;
	double amount[ENTRIES][DIFF_SIDES] = { 0 }, part[ENTRIES][DIFF_SIDES] = { 0 };
	double s2[ENTRIES] = { 0 }, v[ENTRIES] = { 0 }, q[ENTRIES] = { 0 }, ratios[ENTRIES];
	double own[ENTRIES][DIFF_SIDES] = { 0 }, n[DIFF_SIDES] = { 0 };
	bool is_tested[ENTRIES];
	size_t ratio_count = 0;
	for (size_t run = 0; run < runs; run++) {
		int side = run >= m;
		rate[side] += 1 / (double)c->interval[run];
		total[side] += total_of(c, run) * (double)c->interval[run] / count[side];
		for (int i = 0; i < ENTRIES; i++) {
			amount[i][side] += (double)(c->hits[run][i] * c->interval[run]) / count[side];
			part[i][side] += (double)c->hits[run][i] / total_of(c, run) / count[side];
			own[i][side] += (double)c->hits[run][i];
			n[side] += (double)c->hits[run][i];
		}
	}
	for (size_t run = 0; run < runs; run++) {
		c2 += pow(total_of(c, run) * (double)c->interval[run] / total[run >= m] - 1, 2) / f;
		for (int i = 0; i < ENTRIES; i++) {
			double p = part[i][run >= m];
			s2[i] += pow((double)c->hits[run][i] / total_of(c, run) - p, 2) / f;
			v[i] += p * (1 - p) / total_of(c, run) / (double)runs;
			q[i] += p / total_of(c, run) / (double)runs;
		}
	}
	for (int i = 0; i < ENTRIES; i++) {
		is_tested[i] = pow(fmin(rate[0], rate[1]) / (rate[0] + rate[1]), own[i][0] + own[i][1]) <= 0.001;
		if (is_tested[i])
			ratios[ratio_count++] = s2[i] / v[i];
	}
	struct statistics_prior prior = statistics_fit(ratios, ratio_count, f);
	double u = fmax(1, prior.ratio), d = prior.freedom;
	struct diff_list *list = compare(c, RESOURCE_MERGED);
	assert_near(list->totals[DIFF_A], total[DIFF_A]);
	assert_near(list->total_error, total[DIFF_B] / total[DIFF_A] * sqrt(c2 * (1 / count[0] + 1 / count[1])) *
					       statistics_student_quantile(0.05, f));
	for (int i = 0; i < ENTRIES; i++) {
		const struct diff_entry *entry = entry_of(list, i);
		double w2 = isinf(d) ? u * v[i] : fmax(v[i], (d * u * v[i] + f * s2[i]) / (d + f));
		double totals = total[0] * total[0] / count[0] + total[1] * total[1] / count[1], a = w2 * totals;
		double b = c2 * (amount[i][0] * amount[i][0] / count[0] + amount[i][1] * amount[i][1] / count[1]);
		double deviation = sqrt(a + b), freedom = (a + b) * (a + b) / (a * a / (d + f) + b * b / f);
		double least = total[0] * total[0] * part[i][0] * (1 - part[i][0]) / n[0] +
			       total[1] * total[1] * part[i][1] * (1 - part[i][1]) / n[1];
		double k = own[i][0] + own[i][1], r = rate[1] / (rate[0] + rate[1]), expected = k * fmin(r, 1 - r);
		double g = fmax((a + b) / (q[i] * totals), expected < 10 ? 1 : 1 - k / (n[0] + n[1]));
		double exact = expected / g < 1000 ? statistics_binomial_tails(own[i][1] / g, k / g, r) : 0;
		assert_near(entry->fraction[DIFF_B], part[i][DIFF_B]);
		assert_near(entry->gticks[DIFF_A], amount[i][DIFF_A]);
		assert_near(entry->z, (amount[i][DIFF_B] - amount[i][DIFF_A]) / deviation);
		assert_near(entry->error, sqrt(fmax(a + b, least)) * statistics_student_quantile(0.05, freedom));
		assert_near(entry->p, is_tested[i] ? fmax(exact, statistics_student_tails(entry->z, freedom)) : NAN);
	}
	diff_list_free(list);
}

static void several_recordings_are_compared(void **state)
{
	/* Scattered more than by sampling, and unequally (0 < d < infinity). */
	const struct comparison unequal = { .counts = { 2, 3 },
					    .interval = { 1, 1, 2, 2, 3 },
					    .hits = { { 400, 300, 200, 100, 50, 20, 3, 1 },
						      { 500, 240, 203, 180, 52, 21, 3, 1 },
						      { 300, 290, 201, 120, 30, 20, 2, 1 },
						      { 200, 280, 190, 110, 60, 25, 1, 1 },
						      { 250, 200, 120, 150, 20, 22, 2, 1 } } };
	/* Scattered less than by sampling (u = 1, d infinite). */
	const struct comparison even = { .counts = { 2, 2 },
					 .interval = { 1, 1, 1, 1 },
					 .hits = { { 400, 300, 200, 100, 50, 20, 3, 1 },
						   { 401, 301, 201, 101, 51, 21, 4, 2 },
						   { 402, 302, 199, 99, 49, 19, 2, 2 },
						   { 400, 301, 202, 100, 50, 21, 5, 1 } } };
	(void)state;
	assert_several(&unequal);
	assert_several(&even);
}

/* Entry e has `few` samples in B and none in A; the others scatter less than samples do, so that the normal distribution is used. */
static struct comparison few_samples(uint64_t few)
{
	return (struct comparison){ .counts = { 4, 1 },
				    .interval = { 1, 1, 1, 1, 1 },
				    .hits = { { 251, 250, 249, 250 },
					      { 250, 251, 250, 249 },
					      { 249, 250, 251, 250 },
					      { 250, 249, 250, 251 },
					      { 250, 250, 250, 250 - few, few } } };
}

/* The p of few samples is exact: all are in the one of five recordings that is B, and as much on the other side of the mean. */
static void few_samples_are_tested_exactly(void **state)
{
	(void)state;
	for (uint64_t few = 1; few < 10; few++) {
		struct comparison c = few_samples(few);
		struct diff_list *list = compare(&c, RESOURCE_MERGED);
		const struct diff_entry *entry = entry_of(list, 4);
		double part = (double)few / 1000;
		assert_near(entry->p, few < 5 ? NAN : 2 * pow(0.2, (double)few));
		/* The error is at least what sampling contributes to B. */
		assert_near(entry->error,
			    1000 * sqrt(part * (1 - part) / 1000) * statistics_student_quantile(0.05, INFINITY));
		assert_int_equal(entry->significant, few >= 5);
		diff_list_free(list);
	}
}

/* Recordings of one sample each: their fractions, 0 and 1, show no variance. Neither that B has a new entry nor that it lacks another one is certain. */
static void a_single_sample_is_no_mark(void **state)
{
	struct comparison c = { .counts = { 24, 1 } };
	(void)state;
	for (int run = 0; run < 25; run++) {
		c.interval[run] = 1;
		c.hits[run][run == 24] = 1;
	}
	struct diff_list *list = compare(&c, RESOURCE_MERGED);
	double quantile = statistics_student_quantile(0.05, 23);
	assert_near(entry_of(list, 1)->p, NAN);
	assert_near(entry_of(list, 1)->error, quantile);
	assert_false(entry_of(list, 1)->significant);
	assert_near(entry_of(list, 0)->p, 2 * pow(24 / 25.0, 24));
	assert_near(entry_of(list, 0)->error, quantile / sqrt(24));
	assert_false(entry_of(list, 0)->significant);
	diff_list_free(list);
}

/* Recordings of a side that are the same have no variance. If their hits are samples, the samples' own variance is in its place. If they are
 * exact, the slightest difference is certain, and equal fractions have no error of rounding. */
static void equal_recordings_are_compared(void **state)
{
	const struct comparison c = {
		.counts = { 3, 2 },
		.interval = { 1, 1, 1, 1, 1 },
		.hits = { { 7, 7, 7, 9 }, { 7, 7, 7, 9 }, { 7, 7, 7, 9 }, { 7, 7, 6, 10 }, { 7, 7, 6, 10 } }
	};
	(void)state;
	struct diff_list *list = compare(&c, RESOURCE_MERGED);
	for (int i = 0; i < 4; i++) {
		assert_true(entry_of(list, i)->p > 0.5 && entry_of(list, i)->error > 1);
		assert_false(entry_of(list, i)->significant);
	}
	diff_list_free(list);
	list = compare(&c, RESOURCE_EXACT);
	for (int i = 0; i < 4; i++) {
		assert_near(entry_of(list, i)->error, 0);
		assert_true(entry_of(list, i)->p == (i < 2));
		assert_int_equal(entry_of(list, i)->significant, i >= 2);
	}
	diff_list_free(list);
}

/* A recording without hits, and entries that are the same in all recordings. */
static void empty_recordings_are_compared(void **state)
{
	const struct comparison nothing_first = { .counts = { 1, 1 },
						  .interval = { 1, 1 },
						  .hits = { { 0 }, { 5, 7 } } };
	const struct comparison nothing = { .counts = { 2, 1 }, .interval = { 1, 1, 1 }, .hits = { { 0 } } };
	const struct comparison nothing_last = { .counts = { 1, 1 },
						 .interval = { 1, 1 },
						 .hits = { { 5, 7 }, { 0 } } };
	const struct comparison one = { .counts = { 1, 1 }, .interval = { 1, 1 }, .hits = { { 1 }, { 4 } } };
	(void)state;
	struct diff_list *list = compare(&nothing_first, RESOURCE_MERGED);
	assert_near(diff_total_change(list), NAN);
	assert_near(entry_of(list, 0)->p, NAN);
	assert_near(list->total_error, NAN);
	assert_near(entry_of(list, 0)->fraction[DIFF_A], 0);
	diff_list_free(list);
	list = compare(&nothing_last, RESOURCE_MERGED);
	assert_near(diff_total_change(list), -1);
	assert_near(entry_of(list, 1)->z, -7 / sqrt(7 * (1 - 7 / 12.0)));
	diff_list_free(list);
	list = compare(&nothing, RESOURCE_MERGED);
	assert_int_equal(list->count, 0);
	assert_near(list->total_error, NAN);
	diff_list_free(list);
	list = compare(&one,
		       RESOURCE_MERGED); /* a total of one sample; the only entry has a share of 1 on both sides */
	assert_near(diff_total_change(list), 3);
	assert_near(entry_of(list, 0)->z, 0); /* all of the total, of which no spread is assumed: its deviation is 0 */
	assert_near(entry_of(list, 0)->p, NAN);
	diff_list_free(list);
}

/* Every difference of exact recordings is marked, if one of a side is compared. */
static void exact_differences_are_marked(void **state)
{
	const struct comparison c = { .counts = { 1, 1 },
				      .interval = { 1, 1 },
				      .hits = { { 1000, 1, 0, 7 }, { 1000, 2, 1, 7 } } };
	(void)state;
	struct diff_list *list = compare(&c, RESOURCE_EXACT);
	assert_true(list->is_exact);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(entry_of(list, i)->significant, i == 1 || i == 2);
		assert_near(entry_of(list, i)->p, NAN);
		assert_near(entry_of(list, i)->z, 0);
	}
	diff_list_free(list);
}

/* Sums of an unknown number of samples: a single recording a side has no marks; several show how much equal ones differ. */
static void sums_need_several_recordings(void **state)
{
	const struct comparison single = { .counts = { 1, 1 },
					   .interval = { 1, 1 },
					   .hits = { { 5000000, 700000 }, { 5000000, 900000 } },
					   .spread = 0.05 };
	const struct comparison several = { .counts = { 2, 2 },
					    .interval = { 1, 1, 1, 1 },
					    .hits = { { 50000000, 7000000, 2000000, 900000, 1000000 },
						      { 51000000, 7300000, 2200000, 800000, 1000000 },
						      { 50500000, 7100000, 4900000, 900000, 2000000 },
						      { 50200000, 7200000, 5100000, 900000, 2000000 } } };
	(void)state;
	struct diff_list *list = compare(&single, RESOURCE_SUMS);
	assert_false(list->is_exact || list->has_samples);
	assert_near(list->total_error, NAN);
	assert_near(entry_of(list, 1)->p, NAN);
	assert_near(entry_of(list, 1)->error, NAN);
	assert_false(entry_of(list, 1)->significant);
	diff_list_free(list);
	list = compare(&several, RESOURCE_SUMS);
	assert_false(list->is_exact || list->has_samples);
	for (int i = 0; i < 4; i++)
		assert_int_equal(entry_of(list, i)->significant, i == 2);
	/* One sample, and then two, in each recording: the other entries show that this is chance. */
	assert_true(entry_of(list, 4)->error > 0);
	diff_list_free(list);
}

/* One exact side does not make the comparison exact. */
static void one_exact_side_is_not_enough(void **state)
{
	const struct comparison c = {
		.counts = { 1, 1 }, .interval = { 1, 1 }, .hits = { { 1000, 10 }, { 1000, 11 } }, .spread = 0.05
	};
	static const enum resource_kind kinds[][2] = { { RESOURCE_EXACT, RESOURCE_MERGED },
						       { RESOURCE_MERGED, RESOURCE_EXACT },
						       { RESOURCE_EXACT, RESOURCE_SUMS } };
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct diff_list *list = compare_kinds(&c, kinds[i], 2);
		assert_false(list->is_exact);
		assert_false(entry_of(list, 1)->significant);
		diff_list_free(list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_recordings_are_compared),  cmocka_unit_test(ten_expected_samples_are_enough),
		cmocka_unit_test(several_recordings_are_compared), cmocka_unit_test(empty_recordings_are_compared),
		cmocka_unit_test(exact_differences_are_marked),    cmocka_unit_test(sums_need_several_recordings),
		cmocka_unit_test(one_exact_side_is_not_enough),    cmocka_unit_test(exact_differences_are_marked),
		cmocka_unit_test(few_samples_are_tested_exactly),  cmocka_unit_test(a_single_sample_is_no_mark),
		cmocka_unit_test(equal_recordings_are_compared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
