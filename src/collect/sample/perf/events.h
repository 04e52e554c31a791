/*
 * A set of open perf events, each of one thread on one CPU (or, with thread -1,
 * of whoever runs on that CPU), which write to rings: one for each CPU or more.
 *
 *   zeros -> perf_events_add... -> enable / disable -> perf_events_release
 */
#ifndef COLLECT_SAMPLE_PERF_EVENTS_H
#define COLLECT_SAMPLE_PERF_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct ring;

enum { PERF_EVENTS_EVERYTHING = -1 }; /* the thread of events that watch all threads */

struct perf_event {
	int fd;
	pid_t tid;
	bool is_off; /* it stays disabled: see perf_events_drop_thread */
	uint32_t tag;
};

struct perf_events {
	struct perf_event *events; /* owned, with their descriptors */
	size_t count, capacity;
};

/* What all events have in common: inherited by what the thread `tid` starts (all
 * threads: PERF_EVENTS_EVERYTHING), disabled until exec or until enabled, times
 * by CLOCK_MONOTONIC, and behind each record that is no sample what perf/record.h
 * says. */
void perf_events_attributes(struct perf_event_attr *attr, pid_t tid, bool on_exec);

/* perf_event_open: a descriptor, or -1 with errno. */
int perf_events_open(struct perf_event_attr *attr, pid_t tid, int cpu);

/* Whether this kernel knows all that `attr` asks for, tried on ourselves. */
bool perf_events_are_accepted(struct perf_event_attr *attr);

/* Opens an event that writes to `ring`, which is mapped with `ring_bytes` if it is
 * not yet (NULL: it only counts). `tag` is the caller's. 1; 0: the thread is gone; or an error. */
int perf_events_add(struct perf_events *events, struct perf_event_attr *attr, pid_t tid, int cpu, struct ring *ring,
		    size_t ring_bytes, uint32_t tag, struct error *error);

/* Enables those from index `first` on. 0 or an error. */
int perf_events_enable(const struct perf_events *events, size_t first, struct error *error);
void perf_events_disable(const struct perf_events *events);

/* Disables those of a thread for good: it inherited others that count the same. */
void perf_events_drop_thread(struct perf_events *events, pid_t tid);

void perf_events_release(struct perf_events *events);

#endif
