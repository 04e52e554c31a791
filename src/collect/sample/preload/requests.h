/* What is asked for, as the runtime is told of it. */
#ifndef COLLECT_SAMPLE_PRELOAD_REQUESTS_H
#define COLLECT_SAMPLE_PRELOAD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/channel.h"
#include "collect/sample/backend.h"

/* Whether the agent can count it. */
bool preload_can_count(enum counter counter);

/* COUNTER_NONE: it is not seen from the inside. */
struct channel_request preload_request_of(const struct resource_request *request);

/* How far apart the ticks of a thread's timer are, in ns; 0: nothing needs any. */
uint64_t preload_tick_ns(const struct backend_request *request);

/* Ticks a second at most, if that is less than is asked for; 0: it is not. */
uint64_t preload_ticks_short_of(const struct backend_request *request);

/* The runtime counts time in ns, resources may in longer gticks. */
uint64_t preload_gticks_of(const struct resource_row *row, uint64_t amount);

#endif
