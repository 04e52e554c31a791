#include "collect/sample/perf/period_pair.h"

#include <math.h>

/* In shorter intervals, rounding to whole gticks would distort the mean. No clock of the kernel has them. */
enum { SMALL_INTERVAL = 64 };

unsigned period_pair_plan(uint64_t interval, bool single, double chance, uint64_t periods[PERIODS_MAX])
{
	if (single || interval < SMALL_INTERVAL) {
		periods[0] = interval;
		return 1;
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
