/*
 * What happens beside the samples: maps, forks, names and exits of the watched
 * threads, told by perf events that count nothing ("dummy"), for any backend.
 *
 *   new -> attach... -> start -> (refresh -> (peek -> deliver)...)... -> stop -> free
 *
 *   (1) All are inherited by what the thread starts.
 *   (2) They have rings of their own, so that nothing else can push them out; and
 *       so have maps that are not executable, of which some programs make many.
 *   (3) Records are delivered in order of time, one at a time, so that a backend
 *       can put its samples in between.
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

enum { SIDE_EVENTS_RING_BYTES = 256 * 1024 }; /* some 2,000 maps */

/* Uses `everything` and `data_maps` of the request. `ring_bytes` is the size
 * for each CPU (SIDE_EVENTS_RING_BYTES, where locked memory is not limited),
 * twice with data_maps. `prompt`: the descriptors become readable at every
 * record except data maps, otherwise when a quarter of a ring is full. Returns
 * NULL with the reason in `error`. */
struct side_events *side_events_new(const struct backend_request *request, size_t ring_bytes, bool prompt,
				    struct error *error);
void side_events_free(struct side_events *side); /* NULL is fine */

/* Returns whether a thread was attached, or inherits from an attached one. */
bool side_events_is_watched(const struct side_events *side, pid_t tid);

/* Watches a thread and all that it starts from now on; `tid` is -1 if the request
 * is for everything. To be called last, after the backend's own events of the
 * thread are there: a fork that is told of was then inherited by those too. Tells
 * from now on, or if `on_exec` from the thread's exec on. 1: watched; 0: there is
 * no such thread (any more) or it was watched already; or an error. */
int side_events_attach(struct side_events *side, pid_t tid, bool on_exec, struct error *error);

/* Declares that all existing threads have been attached: no caller will ask
 * about later ones. Implied by an attach that is `on_exec`. */
void side_events_start(struct side_events *side);

void side_events_stop(struct side_events *side);

/* As backend_vtable.descriptors. */
size_t side_events_descriptors(const struct side_events *side, struct pollfd *descriptors, size_t limit);

/* Looks how far the kernel has written: peek and deliver go up to there. */
void side_events_refresh(struct side_events *side);

/* Returns whether there is a record, and the earliest one's time. */
bool side_events_peek(struct side_events *side, uint64_t *time_ns);

/* Delivers that record. If it reports that a thread inherited all events which
 * was also attached on its own (between its start and this event), returns that
 * thread: the events that were opened for it alone must be closed. Otherwise
 * returns 0. */
pid_t side_events_deliver(struct side_events *side, const struct backend_sink *sink);

#endif
