#include "collect/sample/preload/requests.h"

#include <stdio.h>

bool preload_can_count(enum counter counter)
{
	static const bool counted[COUNTER_COUNT] = {
		[COUNTER_CPU] = true,
		[COUNTER_USER] = true,
		[COUNTER_SYS] = true,
		[COUNTER_REAL] = true,
		[COUNTER_BLOCKED] = true,
		[COUNTER_IO_TIME] = true,
		[COUNTER_LOCK_WAIT] = true,
		[COUNTER_IO_CALLS] = true,
		[COUNTER_READ] = true,
		[COUNTER_WRITTEN] = true,
		[COUNTER_TRANSFERRED] = true,
		[COUNTER_READ_REQUESTED] = true,
		[COUNTER_WRITE_REQUESTED] = true,
		[COUNTER_TRANSFER_REQUESTED] = true,
		[COUNTER_ALLOC_BYTES] = true,
		[COUNTER_ALLOCS] = true,
		[COUNTER_FP] = true,
		[COUNTER_OWN] = true,
	};
	return counted[counter];
}

static uint64_t ns_of_gtick(const struct resource_row *row)
{
	return row->is_time && row->gtick_ns ? row->gtick_ns : 1;
}

struct channel_request preload_request_of(const struct resource_request *request)
{
	const struct resource_row *row = request->row;
	struct channel_request asked = { .counter = COUNTER_NONE };
	uint64_t ns = ns_of_gtick(row);
	if (!preload_can_count(request->counter))
		return asked;
	asked.counter = (uint8_t)request->counter;
	asked.interval = request->interval > UINT64_MAX / ns ? UINT64_MAX : request->interval * ns;
	asked.fp_kinds = row->fp_kinds;
	if (asked.counter == COUNTER_OWN)
		snprintf(asked.name, sizeof(asked.name), "%.*s", (int)sizeof(asked.name) - 1, request->target.name);
	return asked;
}

/* With shorter ticks, a thread would mostly handle ticks. A clock determines how many intervals each tick
 * covers. */
enum { SHORTEST_TICK_NS = 50000 };

uint64_t preload_tick_ns(const struct backend_request *request)
{
	/* Instructions of the program may mask the exceptions: each tick unmasks them again. */
	static const uint64_t fp_tick_ns = 1000000;
	uint64_t tick_ns = 0;
	for (size_t i = 0; i < request->resource_count; i++) {
		struct channel_request asked = preload_request_of(&request->resources[i]);
		uint64_t wanted_ns = asked.counter == COUNTER_FP          ? fp_tick_ns
				     : counter_needs_ticks(asked.counter) ? asked.interval
									  : 0;
		if (wanted_ns && (tick_ns == 0 || wanted_ns < tick_ns))
			tick_ns = wanted_ns;
	}
	return tick_ns && tick_ns < SHORTEST_TICK_NS ? SHORTEST_TICK_NS : tick_ns;
}

uint64_t preload_ticks_short_of(const struct backend_request *request)
{
	enum { NS_PER_S = 1000000000 };
	for (size_t i = 0; i < request->resource_count; i++) {
		struct channel_request asked = preload_request_of(&request->resources[i]);
		if (counter_needs_ticks(asked.counter) && asked.interval < SHORTEST_TICK_NS)
			return NS_PER_S / SHORTEST_TICK_NS;
	}
	return 0;
}

uint64_t preload_gticks_of(const struct resource_row *row, uint64_t amount)
{
	return amount / ns_of_gtick(row);
}
