/* Which of our resources an event of perf is: the same for perf.data, which has its numbers, and for texts, which have its name. */
#ifndef COLLECT_PERF_DATA_EVENTS_H
#define COLLECT_PERF_DATA_EVENTS_H

#include <stdint.h>

#include "resources/resources.h"

/* Returns the resource of an event by its PERF_TYPE_... and PERF_COUNT_..., or NULL. */
const struct resource_row *perf_event_resource(uint32_t type, uint64_t config);

#endif
