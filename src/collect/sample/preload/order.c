#include "collect/sample/preload/events.h"

void preload_order_put(struct preload_order *order, uint64_t time_ns, uint32_t thread)
{
	size_t at = order->count++;
	for (; at > 0 && order->turns[(at - 1) / 2].time_ns > time_ns; at = (at - 1) / 2)
		order->turns[at] = order->turns[(at - 1) / 2];
	order->turns[at] = (struct preload_turn){ .time_ns = time_ns, .thread = thread };
}

uint32_t preload_order_take(struct preload_order *order)
{
	uint32_t first = order->turns[0].thread;
	struct preload_turn last = order->turns[--order->count];
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < order->count && order->turns[child + 1].time_ns < order->turns[child].time_ns)
			child++;
		if (child >= order->count || order->turns[child].time_ns >= last.time_ns)
			break;
		order->turns[at] = order->turns[child];
		at = child;
	}
	order->turns[at] = last;
	return first;
}
