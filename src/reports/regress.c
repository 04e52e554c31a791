#include "reports/regress.h"

#include <math.h>

#include "analyze/analyses.h"

int64_t regress_window_count(int64_t all)
{
	return all < REGRESS_WINDOWS_MOST ? all : REGRESS_WINDOWS_MOST;
}

int64_t regress_windows_after(int64_t all, int64_t i)
{
	return i * all / regress_window_count(all);
}

double regress_chance(int64_t window_s, size_t services)
{
	const double week_s = 7 * 86400;
	return fmin(DIFF_CHANCE, (double)window_s / week_s) / fmax(1, (double)services);
}
