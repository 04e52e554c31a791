/*
 * The records in a perf ring, for the sample type that perf.c asks for:
 * bounded decoding into the backend's own terms.
 *
 *   sample:  header | id u64 | pid, tid u32 | time u64 | abi u64, registers u64...
 *            | stack size u64, bytes, dynamic size u64
 *   others:  header | body | pid, tid u32 | time u64 | id u64
 */
#ifndef RECORD_PERF_RECORD_H
#define RECORD_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/backend.h"
#include "record/ring.h"

/* What perf.c must ask for, so that records look as above. */
static const uint64_t PERF_RECORD_SAMPLE_TYPE =
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

/* And of events that only tell, without samples. */
static const uint64_t PERF_RECORD_SIDE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

/* The time of any record; 0 for one too short to have one. */
uint64_t perf_record_time(const struct perf_event_header *record);

/* Among rings, mapped or not, the one whose next record is the earliest, the first
 * of several; *time_ns is its time. NULL: none has a record. */
struct ring *perf_record_earliest(struct ring *rings, size_t count, uint64_t *time_ns);

/* Decodes a PERF_RECORD_SAMPLE, all but `request` and `hits`, and gives the id
 * of its event. False: malformed. */
bool perf_record_sample(const struct perf_event_header *record, struct backend_sample *sample, uint64_t *event_id);

/* Passes any other record that tells something on to the sink.
 * `is_sample_ring`: what was lost was samples. */
void perf_record_deliver(const struct perf_event_header *record, const struct backend_sink *sink, bool is_sample_ring);

#endif
