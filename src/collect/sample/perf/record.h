/*
 * The records in a perf ring, for the sample type that perf.c asks for:
 * bounded decoding into the backend's own terms.
 *
 *   sample:  header | id u64 | pid, tid u32 | time u64 | address u64
 *            | data size u32, bytes | abi u64, registers u64...
 *            | stack size u64, bytes, dynamic size u64
 *   others:  header | body | pid, tid u32 | time u64 | id u64
 */
#ifndef COLLECT_SAMPLE_PERF_RECORD_H
#define COLLECT_SAMPLE_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/perf/ring.h"

/* What perf.c must ask for, so that records look as above. */
static const uint64_t PERF_RECORD_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
						PERF_SAMPLE_STACK_USER;

/* What a sample says beyond the backend's own terms. Pointers are into the record. */
struct perf_record_origin {
	uint64_t event_id;
	const uint8_t *data; /* a tracepoint's; other events have some bytes without meaning */
	size_t data_bytes;
};

/* And of events that only tell, without samples. */
static const uint64_t PERF_RECORD_SIDE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

/* The time of any record; 0 for one too short to have one. */
uint64_t perf_record_time(const struct perf_event_header *record);

/* Among rings, mapped or not, the one whose next record is the earliest, the first
 * of several; *time_ns is its time. NULL: none has a record. */
struct ring *perf_record_earliest(struct ring *rings, size_t count, uint64_t *time_ns);

/* Decodes a PERF_RECORD_SAMPLE, all but what depends on its event: `request`, `hits`,
 * and `has_touched` (`touched` is whatever address the event gave). False: malformed. */
bool perf_record_sample(const struct perf_event_header *record, struct backend_sample *sample,
			struct perf_record_origin *origin);

/* Passes any other record that tells something on to the sink.
 * `is_sample_ring`: what was lost was samples. */
void perf_record_deliver(const struct perf_event_header *record, const struct backend_sink *sink, bool is_sample_ring);

#endif
