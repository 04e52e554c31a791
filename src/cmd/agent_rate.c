/* The rate that the limits permit: it falls by half before a limit is exceeded, and rises step by step. */
#include "cmd/agent.h"

/* Returns the larger part of a limit that is used. */
static double used_part(const struct agent_use *used, const struct agent_use *limits)
{
	double cpu = limits->cpu_share > 0 ? used->cpu_share / limits->cpu_share : 0;
	double memory = limits->memory_bytes > 0 ? (double)used->memory_bytes / (double)limits->memory_bytes : 0;
	return cpu > memory ? cpu : memory;
}

double agent_rate_next(double share, double least, const struct agent_use *used, const struct agent_use *limits)
{
	/* A step up stays below the part at which the rate falls: 0.5 * 1.5 < 0.9. */
	static const double falls_at = 0.9, rises_below = 0.5, step = 1.5;
	double part = used_part(used, limits);
	double next = part > falls_at ? share / 2 : part < rises_below ? share * step : share;
	next = next < least ? least : next;
	return next > 1 ? 1 : next;
}
