/*
 * The events of a trace, one after the other: thread by thread, and each thread's in the order in which the thread
 * wrote them. A reader of traces implements an event source; an exporter uses one, independently of the reader.
 *
 * Life cycle: the function that opens a source returns it; call `next` until it does not return 1; then `close`.
 */
#ifndef PROFILE_EVENT_SOURCE_H
#define PROFILE_EVENT_SOURCE_H

#include <stdint.h>

#include "base/error.h"

enum event_kind {
	EVENT_ENTER,  /* a function was called */
	EVENT_LEAVE,  /* ... and left; follows its EVENT_ENTER. Some calls have no EVENT_LEAVE */
	EVENT_SAMPLE, /* a tick found the thread in `function` */
	EVENT_USER,   /* the program called cpprof_event(id, value) */
};

struct event {
	enum event_kind kind;
	uint64_t time_ns;     /* since the start of the recording */
	uint32_t process;     /* its pid */
	uint32_t thread;      /* its tid */
	const char *function; /* owned by the source, valid until the next `next`; not set for EVENT_USER */
	uint64_t id, value;   /* for EVENT_USER */
	/* For EVENT_ENTER: number of the thread's calls that go on around it. Deeper calls have ended, also those without EVENT_LEAVE. */
	uint32_t depth;
};

struct event_source {
	/* Returns 1 with `event` filled in, 0 if there are no more events, or a negative error with `error` set. */
	int (*next)(struct event_source *source, struct event *event, struct error *error);
	/* Frees the source. */
	void (*close)(struct event_source *source);
};

#endif
