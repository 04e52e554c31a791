/* Which thread's next record is the earliest: a heap by time. */
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

/* Each thread is in it at most once. */
void preload_order_put(struct preload_order *order, uint64_t time_ns, uint32_t thread);
/* Takes out the earliest; there must be one. */
uint32_t preload_order_take(struct preload_order *order);

#endif
