#include "record/trains.h"

#include <math.h>

/* Below this the rounding to whole gticks would bend the mean. */
enum { SMALL_INTERVAL = 64 };

/* For a small whole interval n, the solutions of 1/a + 1/b = 1/n in whole
 * numbers are a = n + d, b = n + n*n/d for the divisors d of n*n. The largest
 * d below n gives the two most alike periods that differ. */
static void plan_small(uint64_t n, uint64_t periods[TRAINS_MAX])
{
	for (uint64_t d = n - 1; d > 0; d--) {
		if (n * n % d == 0) {
			periods[0] = n + d;
			periods[1] = n + n * n / d;
			return;
		}
	}
}

unsigned trains_plan(uint64_t interval, bool single, double chance, uint64_t periods[TRAINS_MAX])
{
	if (single || interval < 2) {
		periods[0] = interval;
		return 1;
	}
	if (interval < SMALL_INTERVAL) {
		plan_small(interval, periods);
		return 2;
	}
	/* The shorter one is 10 to 20 % shorter than twice the interval. */
	static const double LEAST = 0.10;
	static const double RANGE = 0.10;
	double n = (double)interval;
	double first = round(2 * n * (1 - LEAST - RANGE * chance));
	periods[0] = (uint64_t)first;
	periods[1] = (uint64_t)round(1 / (1 / n - 1 / first));
	return 2;
}
