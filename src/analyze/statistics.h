/*
 * Statistical distributions and tests. Internal to analyze/. DLMF is the NIST Digital Library of Mathematical Functions.
 */
#ifndef ANALYZE_STATISTICS_H
#define ANALYZE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Return the probability that a normal variable, or Student's t with `freedom` > 0 degrees of freedom (INFINITY: normal), is at
 * least as far from 0 as `t`. */
double statistics_normal_tails(double t);
double statistics_student_tails(double t, double freedom);

/* Returns the probability that a binomial variable, of `trials` with this chance each, is at least as far from its mean as `hits`: twice
 * the probability of the side on which `hits` is, at most 1. The numbers need not be whole. */
double statistics_binomial_tails(double hits, double trials, double chance);

/* Returns the t beyond which, to both sides together, lies the probability `tails` (0 < tails < 1). */
double statistics_student_quantile(double tails, double freedom);

/* Variances of many rows, each estimated with few degrees of freedom, as ratios to their expected values. The rows' true ratios
 * are taken to be scattered around a common one; `prior` is how firmly, in degrees of freedom (INFINITY: they are equal). A row's
 * own estimate s becomes (prior * ratio + freedom * s) / (prior + freedom), with prior + freedom degrees of freedom. */
struct statistics_prior {
	double ratio, freedom;
};

/* Fits the prior to the ratios of `count` rows, each of `freedom` degrees of freedom (G. K. Smyth, Statistical Applications in
 * Genetics and Molecular Biology 3 (2004), article 3, section 6.2). Ratios of 0 are left out. With fewer than 3 others, the prior
 * has no weight (freedom 0). */
struct statistics_prior statistics_fit(const double *ratios, size_t count, double freedom);

/* Returns the largest p among `p` [count] that is significant if the false discovery rate is to be at most `rate`, or -1 if none
 * is: with the p sorted, the last one that is at most its rank / count * rate (Y. Benjamini, Y. Hochberg, Journal of the Royal
 * Statistical Society B 57 (1995), 289-300). Sorts `p`. */
double statistics_false_discovery_limit(double *p, size_t count, double rate);

#endif
