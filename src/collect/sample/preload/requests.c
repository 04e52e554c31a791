#include "collect/sample/preload/requests.h"

#include <stdio.h>

static enum channel_counts counts_of_clock(const struct resource_row *row)
{
	switch (row->modes) {
	case RESOURCE_USER_MODE:
		return CHANNEL_USER;
	case RESOURCE_KERNEL_MODE:
		return CHANNEL_SYS;
	default:
		return CHANNEL_CPU;
	}
}

static enum channel_counts counts_of(const struct resource_request *request)
{
	const struct resource_row *row = request->row;
	bool requested = request->target.requested;
	switch (row->measure) {
	case MEASURE_EVENTS:
		return row->hook == HOOK_ALLOCATION ? CHANNEL_ALLOCS : counts_of_clock(row);
	case MEASURE_BYTES:
		return CHANNEL_ALLOC_BYTES;
	case MEASURE_READ:
		return requested ? CHANNEL_READ_REQUESTED : CHANNEL_READ;
	case MEASURE_WRITTEN:
		return requested ? CHANNEL_WRITE_REQUESTED : CHANNEL_WRITTEN;
	case MEASURE_TRANSFERRED:
		return requested ? CHANNEL_TRANSFER_REQUESTED : CHANNEL_TRANSFERRED;
	case MEASURE_IO_CALLS:
		return CHANNEL_IO_CALLS;
	case MEASURE_ELAPSED:
		return CHANNEL_REAL;
	case MEASURE_WAITED:
		return CHANNEL_BLOCKED;
	case MEASURE_WAITED_FOR_IO:
		return CHANNEL_IO_TIME;
	case MEASURE_WAITED_FOR_LOCKS:
		return CHANNEL_LOCK_WAIT;
	case MEASURE_OWN:
		return CHANNEL_OWN;
	case MEASURE_FP:
		return CHANNEL_FP;
	default:
		return CHANNEL_NOTHING;
	}
}

static uint64_t ns_of_gtick(const struct resource_row *row)
{
	return row->is_time && row->gtick_ns ? row->gtick_ns : 1;
}

struct channel_request preload_request_of(const struct resource_request *request)
{
	const struct resource_row *row = request->row;
	struct channel_request asked = { .counts = CHANNEL_NOTHING };
	uint64_t ns = ns_of_gtick(row);
	if (!row->on_preload)
		return asked;
	asked.counts = (uint8_t)counts_of(request);
	asked.interval = request->interval > UINT64_MAX / ns ? UINT64_MAX : request->interval * ns;
	asked.fp_kinds = row->fp_kinds;
	if (asked.counts == CHANNEL_OWN)
		snprintf(asked.name, sizeof(asked.name), "%.*s", (int)sizeof(asked.name) - 1, request->target.name);
	return asked;
}

/* More often than that, a thread would do little but tick. A clock decides how many
 * intervals a tick stands for. */
enum { SHORTEST_TICK_NS = 50000 };

static bool needs_ticks(uint8_t counts)
{
	return counts >= CHANNEL_CPU && counts <= CHANNEL_BLOCKED;
}

uint64_t preload_tick_ns(const struct backend_request *request)
{
	/* Where exceptions are too many to be counted one by one, each tick looks at some. */
	static const uint64_t fp_tick_ns = 1000000;
	uint64_t tick_ns = 0;
	for (size_t i = 0; i < request->resource_count; i++) {
		struct channel_request asked = preload_request_of(&request->resources[i]);
		uint64_t wanted_ns = asked.counts == CHANNEL_FP  ? fp_tick_ns
				     : needs_ticks(asked.counts) ? asked.interval
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
		if (needs_ticks(asked.counts) && asked.interval < SHORTEST_TICK_NS)
			return NS_PER_S / SHORTEST_TICK_NS;
	}
	return 0;
}

uint64_t preload_gticks_of(const struct resource_row *row, uint64_t amount)
{
	return amount / ns_of_gtick(row);
}
