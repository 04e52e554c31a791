#include "analyze/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/analyses.h"

double statistics_normal_tails(double t)
{
	return erfc(fabs(t) / sqrt(2));
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method (DLMF 3.10(iii)). Converges fast for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	enum { STEPS_MAX = 1000 };
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
	double value = d;
	for (int m = 1; m < STEPS_MAX; m++) {
		double terms[] = { m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
				   -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) };
		double change = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + terms[i] * d;
			c = 1 + terms[i] / c;
			d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
			c = fabs(c) < DBL_MIN ? DBL_MIN : c;
			change = c * d;
			value *= change;
		}
		if (fabs(change - 1) < DBL_EPSILON)
			break;
	}
	return value;
}

/* The regularized incomplete beta function I_x(a, b) (DLMF 8.17). `rest` is 1 - x, which may be more exact than the difference. */
static double beta_regularized(double a, double b, double x, double rest)
{
	if (x <= 0 || rest <= 0)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, rest) / b;
}

double statistics_student_tails(double t, double freedom)
{
	static const double normal_from = 1e6; /* the probabilities differ by less than 1e-6 */
	if (freedom > normal_from)
		return statistics_normal_tails(t);
	double square = t * t;
	if (isinf(square))
		return 0;
	return beta_regularized(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square));
}

/* P(X >= k) = I_chance(k, trials - k + 1) (DLMF 8.17.5). */
double statistics_binomial_tails(double hits, double trials, double chance)
{
	double rest = 1 - chance;
	double above = hits > 0 ? beta_regularized(hits, trials - hits + 1, chance, rest) : 1;
	double below = hits < trials ? beta_regularized(trials - hits, hits + 1, rest, chance) : 1;
	return fmin(1, 2 * fmin(above, below));
}

double statistics_student_quantile(double tails, double freedom)
{
	double low = 0, high = 1;
	while (statistics_student_tails(high, freedom) > tails)
		high *= 2;
	for (int i = 0; i < DBL_MANT_DIG && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (statistics_student_tails(middle, freedom) > tails)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- scattered variances --- */

/* The first two derivatives of log gamma: recurrence up to 10, then the asymptotic series (DLMF 5.11.2 and 5.15.8). */
static double digamma(double x)
{
	double sum = 0;
	while (x < 10)
		sum -= 1 / x++;
	double square = 1 / (x * x);
	return sum + log(x) - 1 / (2 * x) - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

static double trigamma(double x)
{
	double sum = 0;
	while (x < 10) {
		sum += 1 / (x * x);
		x++;
	}
	double square = 1 / (x * x);
	return sum + 1 / x + square / 2 + square / x * (1.0 / 6 - square * (1.0 / 30 - square / 42));
}

/* Returns the x with trigamma(x) = value > 0. The function falls from infinity to 0. */
static double trigamma_inverse(double value)
{
	double low = 1e-8, high = 1;
	while (trigamma(high) > value)
		high *= 2;
	for (int i = 0; i < DBL_MANT_DIG; i++) {
		double middle = low + (high - low) / 2;
		if (trigamma(middle) > value)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* A ratio of f degrees of freedom is the common ratio times F(f, prior). The mean and the variance of its logarithm are
 *   log ratio + digamma(f/2) - log(f/2) - digamma(prior/2) + log(prior/2)   and   trigamma(f/2) + trigamma(prior/2). */
struct statistics_prior statistics_fit(const double *ratios, size_t count, double freedom)
{
	enum { COUNT_MIN = 3 };
	double sum = 0, squares = 0, used = 0;
	for (size_t i = 0; i < count; i++) {
		if (!(ratios[i] > 0) || isinf(ratios[i]))
			continue;
		double e = log(ratios[i]) - digamma(freedom / 2) + log(freedom / 2);
		sum += e;
		squares += e * e;
		used++;
	}
	if (used < COUNT_MIN)
		return (struct statistics_prior){ .ratio = 1, .freedom = 0 };
	double mean = sum / used;
	double scatter = (squares - used * mean * mean) / (used - 1) - trigamma(freedom / 2);
	if (scatter <= 1e-6)
		return (struct statistics_prior){ .ratio = exp(mean), .freedom = INFINITY };
	double half = trigamma_inverse(scatter);
	return (struct statistics_prior){ .ratio = exp(mean + digamma(half) - log(half)), .freedom = 2 * half };
}

/* --- many tests --- */

static int compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

double statistics_false_discovery_limit(double *p, size_t count, double rate)
{
	qsort(p, count, sizeof(*p), compare_numbers);
	for (size_t rank = count; rank > 0; rank--)
		if (p[rank - 1] <= rate * (double)rank / (double)count)
			return p[rank - 1];
	return -1;
}

/* E. B. Wilson, "Probable inference, the law of succession, and statistical
 * inference", JASA 22 (1927): with p the fraction, n the samples and z the
 * normal quantile, the interval is
 *
 *   (p + z^2/2n  +-  z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
 */
double analyze_error(uint64_t hits, uint64_t total, double samples)
{
	if (samples <= 0 || total == 0)
		return 0;
	const double z = 1.959963984540054; /* 97.5 % of the normal distribution are below it */
	double n = samples;
	double p = hits >= total ? 1 : (double)hits / (double)total;
	return z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
}
