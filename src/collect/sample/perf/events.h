/*
 * A set of open perf events, each for one thread on one CPU (or, with thread -1, for all threads on that
 * CPU). They write to rings: one or more for each CPU.
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
#include "base/hash_map.h"

struct ring;

enum { PERF_EVENTS_EVERYTHING = -1 }; /* the thread of events that watch all threads */

struct perf_event {
	int fd;
	pid_t tid;
	bool is_off; /* stays disabled: see perf_events_drop_thread */
	uint32_t tag;
};

struct perf_events {
	struct perf_event *events; /* owned, with their descriptors */
	size_t count, capacity;
	struct hash_map by_id; /* the kernel's id -> index */
};

/* Sets the attributes that all events share. They are inherited by everything that the thread `tid` starts
 * (not needed for all threads, PERF_EVENTS_EVERYTHING), disabled until exec or until enabled, have times
 * by CLOCK_MONOTONIC and, at the end of each record that is no sample, the fields that perf/record.h
 * lists. */
void perf_events_attributes(struct perf_event_attr *attr, pid_t tid, bool on_exec);

/* Calls perf_event_open. Returns a descriptor, or -1 with errno. */
int perf_events_open(struct perf_event_attr *attr, pid_t tid, int cpu);

/* Returns whether this kernel supports everything that `attr` requests: tries it. */
bool perf_events_are_accepted(struct perf_event_attr *attr, pid_t tid, int cpu);
/* Return whether this kernel can leave out the processes that a thread starts (5.13), and counts
 * the lost samples of each event (6.0). */
bool perf_events_leave_children(void);
bool perf_events_count_lost(void);

/* Sets the attributes of an inherited event that counts nothing. While a thread has it, Linux from 6.12 on does not exchange the events of two
 * threads when it switches from one to the other, as it does where both have inherited the same ones. (Events that are opened or enabled in an
 * exchange can stay off: in 1 of 100 attachments to a program that starts threads all the time, threads had no samples of one CPU.) Older
 * kernels do not accept it. */
void perf_events_keep_attributes(struct perf_event_attr *attr);

/* Opens the ring of a CPU, to which events on that CPU can write. It belongs to an event that
 * counts nothing, so that it outlives every watched thread: of our own process (tid 0), or of
 * all (PERF_EVENTS_EVERYTHING). The latter needs the privilege, but not the milliseconds in
 * which the kernel prepares all CPUs for the first event of a single thread. Its descriptor
 * becomes readable when `wake_bytes` were written. The caller unmaps it. Returns 0; ERROR_LIMIT
 * if the memory may not be locked, so that a smaller ring may be possible; or another negative
 * error. */
int perf_events_make_ring(struct ring *ring, pid_t tid, int cpu, size_t data_bytes, uint32_t wake_bytes,
			  struct error *error);

/* Opens an event that writes to `ring`, which is of the same CPU (NULL: it only counts). `tag`
 * is the caller's. Returns 1, 0 if the thread has ended, or a negative error. */
int perf_events_add(struct perf_events *events, struct perf_event_attr *attr, pid_t tid, int cpu,
		    const struct ring *ring, uint32_t tag, struct error *error);

/* Returns the event with this id, which records have also from threads that have inherited it; NULL: there is none. */
const struct perf_event *perf_events_find(const struct perf_events *events, uint64_t id);

/* Enables the events from index `first` on. Returns 0 or a negative error. */
int perf_events_enable(const struct perf_events *events, size_t first, struct error *error);
void perf_events_disable(const struct perf_events *events);

/* Disables the events of a thread permanently: it has inherited others that count the same. */
void perf_events_drop_thread(struct perf_events *events, pid_t tid);

void perf_events_release(struct perf_events *events);

#endif
