/*
 * Draws of counted events (page faults, switches, ...). The kernel can only repeat a period, and a program whose events
 * repeat in step with it would have all samples at one position. The period of an event that a thread has inherited
 * cannot be changed during the run. So the kernel takes a sample of each event, and an interval clock
 * (abi/interval_clock.h) draws one of each interval at random:
 *
 *     events   |. . x . .|. . . . x|x . . . .|     interval 5
 *
 * Clocks do not need this (perf/period_pair.h). Hardware counters count too fast for a sample of each event.
 */
#ifndef COLLECT_SAMPLE_PERF_DRAWS_H
#define COLLECT_SAMPLE_PERF_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/interval_clock.h"
#include "collect/sample/backend.h"

struct perf_draws {
	struct interval_clock clocks[RESOURCE_REQUESTS_MAX];
};

/* Returns whether the resource's events are drawn; whether any of the requested resources' are. */
bool perf_draws_from(const struct resource_request *resource);
bool perf_draws_any(const struct backend_request *request);

void perf_draws_init(struct perf_draws *draws, const struct backend_request *request);

/* Returns the hits of the next event of a request: 0 or 1 if its events are drawn, else 1. */
uint64_t perf_draws_next(struct perf_draws *draws, const struct backend_request *request, size_t number);

/* Returns the samples for which so many lost events stand. */
uint64_t perf_draws_lost(const struct resource_request *resource, uint64_t events);

#endif
