/* Where the records of an event have their fields: PERF_SAMPLE_... in attr.sample_type lists
 * them, in the kernel's order. */
#ifndef COLLECT_PERF_DATA_LAYOUT_H
#define COLLECT_PERF_DATA_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/perf/record.h"

/* Reads the id of the event of a record of any type. Returns false if it has none. */
bool perf_layout_id(const struct perf_event_attr *attr, const struct perf_event_header *record, uint64_t *id);

/* Returns the time of a record in ns, or 0 if it has none. */
uint64_t perf_layout_time(const struct perf_event_attr *attr, const struct perf_event_header *record);

/* Returns the period of a sample, or 0 if it has none. */
uint64_t perf_layout_period(const struct perf_event_attr *attr, const struct perf_event_header *record);

/* Decodes a sample, except its request and hits. `ip` is where it was taken. Returns false if the record is malformed. */
bool perf_layout_sample(const struct perf_event_attr *attr, const struct perf_event_header *record,
			struct backend_sample *sample, struct perf_record_chain *user, uint64_t *ip);

#endif
