/*
 * Which samples of a thread count. The events of a thread are opened one after the other. What it starts meanwhile inherits some of them, is
 * attached for itself too, and passes both on: each event is then sampled twice. Of the events that count the same on one CPU, only those of
 * one attached thread count for a thread: of the first one that sampled it. For software events, Linux 6.18 gives all samples of one occurrence the
 * id of the first of its events, and the same time, which two occurrences in a thread never have.
 *
 *   zeros -> (perf_streams_take | perf_streams_restart)... -> perf_streams_release
 */
#ifndef COLLECT_SAMPLE_PERF_STREAMS_H
#define COLLECT_SAMPLE_PERF_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash_map.h"

struct perf_stream;

struct perf_streams {
	struct hash_map lives; /* thread id -> how often perf_streams_restart was called for it */
	struct hash_map by_key;
	struct perf_stream *items; /* owned */
	size_t count, capacity;
};

/* Returns whether a sample of the thread `tid` counts, from the event that was opened for the thread `owner` on a CPU (by any number). `tag`
 * is what the event counts. Without memory, it counts. */
bool perf_streams_take(struct perf_streams *streams, uint32_t tid, size_t cpu, uint32_t tag, pid_t owner,
		       uint64_t time_ns);

/* Another thread has this id now, or the thread's own events have been closed. */
void perf_streams_restart(struct perf_streams *streams, uint32_t tid);

void perf_streams_release(struct perf_streams *streams);

#endif
