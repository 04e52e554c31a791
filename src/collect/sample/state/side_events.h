/*
 * The side events of the watched threads, for any backend: maps, forks, names and exits, reported by perf
 * events that count nothing ("dummy").
 *
 *   new -> attach... -> start -> (refresh -> (peek -> deliver)...)... -> stop -> free
 *
 *   (1) Everything that a thread starts inherits its events.
 *   (2) The events have separate rings, so that nothing else can displace them. Maps that are
 *       not executable have further rings, because some programs make many of them.
 *   (3) Records are delivered in order of time, one at a time, so that a backend can insert its
 *       samples in between.
 */
#ifndef COLLECT_SAMPLE_STATE_SIDE_EVENTS_H
#define COLLECT_SAMPLE_STATE_SIDE_EVENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/backend.h"

struct side_events;

enum {
	SIDE_EVENTS_RING_BYTES = 256 * 1024, /* some 2,000 maps */
	SIDE_EVENTS_RING_MIN_BYTES = 16 * 1024
};

/* Uses `everything`, `no_children` and `data_maps` of the request. `ring_bytes` is the size
 * for each CPU (SIDE_EVENTS_RING_BYTES, where locked memory is not limited),
 * twice with data_maps. `prompt`: the descriptors become readable at every
 * record except data maps, otherwise when a quarter of a ring is full. Returns
 * NULL with the reason in `error`: ERROR_LIMIT if the kernel does not permit to lock so much memory. */
struct side_events *side_events_new(const struct backend_request *request, size_t ring_bytes, bool prompt,
				    struct error *error);
/* The same with the largest rings that the kernel permits, and `prompt`. Sets *ring_bytes to their size. */
struct side_events *side_events_fit(const struct backend_request *request, size_t *ring_bytes, struct error *error);
void side_events_free(struct side_events *side); /* NULL is fine */

/* Returns whether a thread was attached, or has inherited all events of an attached one. */
bool side_events_is_watched(const struct side_events *side, pid_t tid);

/* Watches a thread and everything that it starts from now on; `tid` is -1 if the request is for
 * everything. Called after the backend has opened its own events for the thread, so that a thread whose
 * fork is reported has inherited those too. Reports from now on, or with `on_exec` from the thread's exec
 * on. Returns 1 if the thread is watched, 0 if it does not exist (any more) or was watched already, or a
 * negative error. */
int side_events_attach(struct side_events *side, pid_t tid, bool on_exec, struct error *error);

/* Declares that all existing threads have been attached: no caller will test whether later threads are
 * watched. Implied by an attach that is `on_exec`. */
void side_events_start(struct side_events *side);

void side_events_stop(struct side_events *side);

/* As backend_vtable.descriptors. */
size_t side_events_descriptors(const struct side_events *side, struct pollfd *descriptors, size_t limit);

/* Updates how far the kernel has written: peek and deliver go up to there. */
void side_events_refresh(struct side_events *side);

/* Returns whether there is a record, and sets *time_ns to the earliest one's time. */
bool side_events_peek(struct side_events *side, uint64_t *time_ns);

/* The start of a thread. */
struct side_fork {
	pid_t tid; /* 0: the record was another one */
	/* It was attached on its own, between its start and this record, and has also inherited all events: the caller must
	 * disable the events that were opened for it alone. */
	bool is_watched_twice;
};

/* Delivers that record. */
struct side_fork side_events_deliver(struct side_events *side, const struct backend_sink *sink);

#endif
