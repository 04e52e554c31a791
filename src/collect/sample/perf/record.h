/*
 * Decodes the records of a perf ring, with bounds checks, into the terms of backend.h. The records have
 * the sample type that perf.c requests:
 *
 *   sample:  header | id u64 | pid, tid u32 | time u64 | address u64
 *            | count u64, addresses u64... (the kernel's stack, behind a mark) | data size u32, bytes | abi u64, registers u64...
 *            | stack size u64, bytes, dynamic size u64
 *   others:  header | body | pid, tid u32 | time u64 | id u64
 */
#ifndef COLLECT_SAMPLE_PERF_RECORD_H
#define COLLECT_SAMPLE_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "collect/sample/backend.h"
#include "collect/sample/perf/ring.h"

/* The sample type that perf.c requests, so that records have the layout above. */
static const uint64_t PERF_RECORD_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
						PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

/* The fields of a sample that struct backend_sample lacks. Pointers are into the record. */
struct perf_record_origin {
	uint64_t event_id;
	const uint8_t *data; /* a tracepoint's; for other events a few bytes without meaning */
	size_t data_bytes;
};

/* The same for events that take no samples. */
static const uint64_t PERF_RECORD_SIDE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

/* Returns the time of any record in ns, or 0 if the record is too short to have one. */
uint64_t perf_record_time(const struct perf_event_header *record);

/* Returns the ring whose next record is the earliest (the first of several), or NULL if no ring has a
 * record. Skips rings that are not mapped. Sets *time_ns to the record's time. */
struct ring *perf_record_earliest(struct ring *rings, size_t count, uint64_t *time_ns);

/* Decodes a PERF_RECORD_SAMPLE, except the fields that depend on its event: `request`, `hits` and
 * `has_touched` (`touched` is the address that the event has, of whatever kind). Returns false if the
 * record is malformed. */
bool perf_record_sample(const struct perf_event_header *record, struct backend_sample *sample,
			struct perf_record_origin *origin);

/* Parts of a sample in the kernel's layout, for this reader and the reader of perf.data files. A
 * malformed part sets in->failed. The results point into the cursor's memory. */

/* The call chain in user mode that the kernel found by frame pointers, innermost first, callers as return addresses. */
struct perf_record_chain {
	const uint64_t *addresses; /* NULL: none */
	size_t count;
};

/* Sets the kernel's stack of the sample, and the user's chain. */
void perf_record_call_chain(struct cursor *in, struct backend_sample *sample, struct perf_record_chain *user);
/* `mask` has the registers that were requested, as asm/perf_regs.h numbers them. Without one
 * that the unwinder needs, the sample has no registers. */
void perf_record_registers(struct cursor *in, uint64_t mask, struct backend_sample *sample);
void perf_record_stack(struct cursor *in, struct backend_sample *sample);

/* Decodes a PERF_RECORD_MMAP or PERF_RECORD_MMAP2. Returns false if it is malformed. The map points into the record. */
bool perf_record_map(const struct perf_event_header *record, uint64_t time_ns, struct backend_map *map);

/* Passes the content of any other record, which has the time `time_ns`, to the sink.
 * `is_sample_ring`: the records that were lost were samples. */
void perf_record_deliver(const struct perf_event_header *record, uint64_t time_ns, const struct backend_sink *sink,
			 bool is_sample_ring);

#endif
