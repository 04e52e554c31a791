/* Converts the requests for the agent, and the agent's amounts back. */
#ifndef COLLECT_SAMPLE_PRELOAD_REQUESTS_H
#define COLLECT_SAMPLE_PRELOAD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/channel.h"
#include "collect/sample/backend.h"

/* Returns whether the agent can count it. */
bool preload_can_count(enum counter counter);

/* Returns the request for the agent; its counter is COUNTER_NONE if the agent cannot count it. */
struct channel_request preload_request_of(const struct resource_request *request);

/* Returns the time between two ticks of a thread's timer in ns, or 0 if no request needs ticks. */
uint64_t preload_tick_ns(const struct backend_request *request);

/* Returns the largest possible number of ticks a second if the requests need more, otherwise 0. */
uint64_t preload_ticks_short_of(const struct backend_request *request);

/* Converts an amount of the agent into gticks: the agent counts time in ns, and a resource may have longer
 * gticks. */
uint64_t preload_gticks_of(const struct resource_row *row, uint64_t amount);

#endif
