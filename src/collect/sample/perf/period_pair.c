#include "collect/sample/perf/period_pair.h"

#include <math.h>

/* In shorter intervals, rounding to whole gticks would distort the mean. */
enum { SMALL_INTERVAL = 64 };

/* For a small whole interval n, the solutions of 1/a + 1/b = 1/n in whole numbers are a = n + d, b = n +
 * n*n/d for the divisors d of n*n below n. Chooses one of them at random. */
static void plan_small(uint64_t n, double chance, uint64_t periods[PERIODS_MAX])
{
	unsigned count = 0;
	for (uint64_t d = 1; d < n; d++)
		count += n * n % d == 0;
	unsigned chosen = (unsigned)(chance * count);
	for (uint64_t d = 1; d < n; d++) {
		if (n * n % d != 0)
			continue;
		periods[0] = n + d;
		periods[1] = n + n * n / d;
		if (chosen-- == 0)
			return;
	}
}

unsigned period_pair_plan(uint64_t interval, bool single, double chance, uint64_t periods[PERIODS_MAX])
{
	if (single || interval < 2) {
		periods[0] = interval;
		return 1;
	}
	if (interval < SMALL_INTERVAL) {
		plan_small(interval, chance, periods);
		return 2;
	}
	/* The first period is 4 to 14 % longer than the interval, so that a short thread does not end
	 * before it. The second is then 8 to 26 times as long as the interval. */
	static const double LEAST = 0.04;
	static const double RANGE = 0.10;
	double n = (double)interval;
	double first = round(n * (1 + LEAST + RANGE * chance));
	periods[0] = (uint64_t)first;
	periods[1] = (uint64_t)round(1 / (1 / n - 1 / first));
	return 2;
}
