/* The threads, ordered by the time of their next record: a heap. */
#ifndef COLLECT_SAMPLE_PRELOAD_ORDER_H
#define COLLECT_SAMPLE_PRELOAD_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"

struct preload_order {
	size_t count;
	struct preload_turn {
		uint64_t time_ns;
		uint32_t thread; /* number of its slot */
	} turns[CHANNEL_THREADS];
};

/* Adds a thread, which must not be in the heap already. */
void preload_order_put(struct preload_order *order, uint64_t time_ns, uint32_t thread);
/* Removes the thread with the earliest record, and returns its number. The heap must not be empty. */
uint32_t preload_order_take(struct preload_order *order);

#endif
