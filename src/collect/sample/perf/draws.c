#include "collect/sample/perf/draws.h"

#include <sys/random.h>

#include "collect/shared/interval_timer.h"

static uint64_t random_below(uint64_t limit)
{
	uint64_t random = 0;
	/* Without a random number, the first event of an interval is drawn. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return 0;
	return random % limit;
}

bool perf_draws_from(const struct resource_request *resource)
{
	return !resource->row->is_time && !resource->row->is_hardware && resource->interval > 1;
}

bool perf_draws_any(const struct backend_request *request)
{
	bool any = false;
	for (size_t i = 0; i < request->resource_count; i++)
		any |= perf_draws_from(&request->resources[i]);
	return any;
}

void perf_draws_init(struct perf_draws *draws, const struct backend_request *request)
{
	*draws = (struct perf_draws){ 0 };
	for (size_t i = 0; i < request->resource_count; i++)
		if (perf_draws_from(&request->resources[i]))
			draws->clocks[i].mark = random_below(request->resources[i].interval);
}

uint64_t perf_draws_next(struct perf_draws *draws, const struct backend_request *request, size_t number)
{
	const struct resource_request *resource = &request->resources[number];
	return perf_draws_from(resource) ? interval_clock_advance(&draws->clocks[number], resource->interval, 1) : 1;
}

uint64_t perf_draws_lost(const struct resource_request *resource, uint64_t events)
{
	return perf_draws_from(resource) ? (events + resource->interval / 2) / resource->interval : events;
}
