/* The rate that the limits permit, as the number of requested intervals for each sample: 1, 2, 4, ... It falls before a limit is exceeded. */
#include "cmd/agent.h"

/* Returns the larger part of a limit that is used. */
static double used_part(const struct agent_use *used, const struct agent_use *limits)
{
	double cpu = limits->cpu_share > 0 ? used->cpu_share / limits->cpu_share : 0;
	double memory = limits->memory_bytes > 0 ? (double)used->memory_bytes / (double)limits->memory_bytes : 0;
	return cpu > memory ? cpu : memory;
}

uint32_t agent_rate_next(uint32_t weight, double most, const struct agent_use *used, const struct agent_use *limits)
{
	/* Twice the rate uses at most twice as much, which stays below the part at which the rate falls. */
	static const double falls_at = 0.9, rises_below = 0.4;
	double part = used_part(used, limits);
	if (part > falls_at && 2.0 * weight <= most)
		return 2 * weight;
	return part < rises_below && weight > 1 ? weight / 2 : weight;
}
