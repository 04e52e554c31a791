/* Distributions and tests (analyze/statistics.h) against closed forms, sums and integrals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/analyses.h"
#include "analyze/statistics.h"

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance * fabs(expected) + 1e-300))
		fail_msg("%.15g, not %.15g", value, expected);
}

/* Both tails by the closed forms for 1, 2, 3 and 4 degrees of freedom. */
static double student_closed(double t, int freedom)
{
	double x = t / sqrt(freedom), square = x * x;
	switch (freedom) {
	case 1:
		return 1 - 2 / M_PI * atan(x);
	case 2:
		return 1 - x / sqrt(1 + square);
	case 3:
		return 1 - 2 / M_PI * (x / (1 + square) + atan(x));
	default:
		return 1 - x / sqrt(1 + square) * (1 + 0.5 / (1 + square));
	}
}

static void tails_of_student(void **state)
{
	(void)state;
	static const double at[] = { 0.01, 0.3, 0.5, 1, 1.5, 2, 3, 5 };
	for (int freedom = 1; freedom <= 4; freedom++) {
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			assert_near(statistics_student_tails(at[i], freedom), student_closed(at[i], freedom), 1e-11);
			assert_near(statistics_student_tails(-at[i], freedom), student_closed(at[i], freedom), 1e-11);
		}
		assert_near(statistics_student_tails(0, freedom), 1, 1e-12);
		assert_near(statistics_student_tails(INFINITY, freedom), 0, 0);
	}
	/* Far out, where 1 minus the rest would be 0: the leading terms of the tail of 1 and 2 degrees. */
	assert_near(statistics_student_tails(1e9, 1), 2 / M_PI / 1e9, 1e-9);
	assert_near(statistics_student_tails(1e9, 2), 1e-18, 1e-9);
	assert_near(statistics_student_tails(1e200, 1), 0, 0);
	assert_near(statistics_student_tails(1.96, INFINITY), erfc(1.96 / sqrt(2)), 1e-15);
	assert_near(statistics_student_tails(1.96, 1e6), erfc(1.96 / sqrt(2)), 1e-5);
	assert_true(statistics_student_tails(1.96, 1e6) != statistics_normal_tails(1.96));
	assert_near(statistics_normal_tails(-2), erfc(sqrt(2)), 1e-15);
}

static void quantiles_of_student(void **state)
{
	(void)state;
	static const double tails[] = { 0.9, 0.5, 0.05, 0.01, 1e-6 };
	static const double freedoms[] = { 1, 2, 3, 7.5, 30, 1e5, INFINITY };
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
		for (size_t k = 0; k < sizeof(freedoms) / sizeof(freedoms[0]); k++) {
			double t = statistics_student_quantile(tails[i], freedoms[k]);
			assert_near(statistics_student_tails(t, freedoms[k]), tails[i], 1e-9);
		}
	assert_near(statistics_student_quantile(0.05, INFINITY), 1.959963984540054, 1e-12);
	assert_near(statistics_student_quantile(0.05, 1), tan(0.475 * M_PI), 1e-12);
	assert_near(statistics_student_quantile(0.5, 1), 1, 1e-12);
}

/* Twice the smaller sum of the probabilities on one side. */
static double binomial_sum(int hits, int trials, double chance)
{
	double above = 0, below = 0;
	for (int k = 0; k <= trials; k++) {
		double p = exp(lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) + k * log(chance) +
			       (trials - k) * log(1 - chance));
		above += k >= hits ? p : 0;
		below += k <= hits ? p : 0;
	}
	return fmin(1, 2 * fmin(above, below));
}

static void tails_of_the_binomial(void **state)
{
	(void)state;
	static const double chances[] = { 0.5, 0.25, 0.75, 0.01, 0.9 };
	static const int trials[] = { 1, 2, 7, 30, 200 };
	for (size_t c = 0; c < sizeof(chances) / sizeof(chances[0]); c++)
		for (size_t t = 0; t < sizeof(trials) / sizeof(trials[0]); t++)
			for (int hits = 0; hits <= trials[t]; hits++)
				assert_near(statistics_binomial_tails(hits, trials[t], chances[c]),
					    binomial_sum(hits, trials[t], chances[c]), 1e-9);
	assert_near(statistics_binomial_tails(0, 0, 0.5), 1, 0);
}

/* --- the prior --- */

/* The derivatives of log gamma, by differences. */
static double digamma(double x)
{
	const double h = 1e-3;
	return (8 * (lgamma(x + h) - lgamma(x - h)) - (lgamma(x + 2 * h) - lgamma(x - 2 * h))) / (12 * h);
}

/* The sum of 1 / (x + k)^2, the rest of it by Euler and Maclaurin. */
static double trigamma(double x)
{
	double sum = 0;
	int k = 0;
	for (; k < 1000; k++)
		sum += 1 / ((x + k) * (x + k));
	x += k;
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x);
}

/* Checks that the prior explains the mean and the scatter of the logarithms, as the formulas require. */
static void assert_fits(const double *ratios, size_t count, double freedom, size_t used)
{
	double sum = 0, squares = 0, f = freedom / 2;
	for (size_t i = 0; i < count; i++) {
		if (!(ratios[i] > 0) || isinf(ratios[i]))
			continue;
		double e = log(ratios[i]) - digamma(f) + log(f);
		sum += e;
		squares += e * e;
	}
	double n = (double)used, mean = sum / n, scatter = (squares - n * mean * mean) / (n - 1) - trigamma(f);
	struct statistics_prior prior = statistics_fit(ratios, count, freedom);
	if (scatter <= 1e-6) {
		assert_true(isinf(prior.freedom));
		assert_near(prior.ratio, exp(mean), 1e-8);
		return;
	}
	double half = prior.freedom / 2;
	assert_near(trigamma(half), scatter, 1e-7);
	assert_near(log(prior.ratio), mean + digamma(half) - log(half), 1e-6);
}

static void the_prior_fits(void **state)
{
	(void)state;
	static const double scattered[] = { 0.01, 0.5, 1, 3, 20, 100 };
	static const double even[] = { 1, 1.1, 0.9, 1.05, 0, -1, NAN, INFINITY };
	static const double some[] = { 0.2, 1, 4, 0.7, 9, 0 };
	static const double freedoms[] = { 1, 2, 3, 5, 12, 19, 20, 21, 40 };
	for (size_t i = 0; i < sizeof(freedoms) / sizeof(freedoms[0]); i++) {
		assert_fits(scattered, 6, freedoms[i], 6);
		assert_fits(even, 8, freedoms[i], 4);
		assert_fits(some, 6, freedoms[i], 5);
		assert_fits(some, 3, freedoms[i], 3);
	}
	struct statistics_prior few = statistics_fit(some, 2, 3);
	assert_near(few.ratio, 1, 0);
	assert_near(few.freedom, 0, 0);
	few = statistics_fit(even + 3, 5, 3);
	assert_near(few.freedom, 0, 0);
}

/* --- many tests --- */

static void false_discoveries(void **state)
{
	(void)state;
	static const struct {
		double p[5];
		size_t count;
		double limit;
	} cases[] = {
		{ { 0 }, 0, -1 },
		{ { 0.05 }, 1, 0.05 },
		{ { 0.0501 }, 1, -1 },
		{ { 0.9, 0.01, 0.5 }, 3, 0.01 },
		{ { 0.9, 0.02, 0.5 }, 3, -1 },
		{ { 0.03, 0.03, 0.03 }, 3, 0.03 }, /* the last one makes all significant */
		{ { 0.05, 0.04, 0.03, 0.02, 0.011 }, 5, 0.05 },
		{ { 0.051, 0.041, 0.03, 0.02, 0.011 }, 5, 0.03 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double p[5];
		for (size_t k = 0; k < 5; k++)
			p[k] = cases[i].p[k];
		assert_near(statistics_false_discovery_limit(p, cases[i].count, 0.05), cases[i].limit, 0);
	}
}

/* The error of a fraction: half of Wilson's interval, between the roots of (p - x)^2 = z^2 x (1 - x) / n. */
static void errors_of_fractions(void **state)
{
	(void)state;
	const double z = 1.959963984540054;
	for (uint64_t hits = 0; hits <= 10; hits++) {
		for (double n = 1; n < 1e6; n *= 7) {
			double p = (double)hits / 10, half = analyze_error(hits, 10, n);
			double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
			for (int sign = -1; sign <= 1; sign += 2) {
				double x = centre + sign * half;
				if (fabs((p - x) * (p - x) - z * z * x * (1 - x) / n) > 1e-9)
					fail_msg("%g of %g", p, n);
			}
			assert_true(half > 0);
		}
	}
	assert_near(analyze_error(5, 10, 0), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tails_of_student),      cmocka_unit_test(quantiles_of_student),
		cmocka_unit_test(tails_of_the_binomial), cmocka_unit_test(the_prior_fits),
		cmocka_unit_test(false_discoveries),     cmocka_unit_test(errors_of_fractions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
