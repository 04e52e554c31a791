/*
 * The events of a trace, one by one, thread after thread, each thread's in the
 * order in which it wrote them. A reader of traces implements an event source;
 * an exporter of events uses one and knows no reader.
 *
 * Life cycle: the function that opens a source returns it; `next` until it does
 * not return 1; `close`.
 */
#ifndef PROFILE_EVENT_SOURCE_H
#define PROFILE_EVENT_SOURCE_H

#include <stdint.h>

#include "base/error.h"

enum event_kind {
	EVENT_ENTER,  /* a function was called */
	EVENT_LEAVE,  /* ... and left; each follows its EVENT_ENTER, and not every call has one */
	EVENT_SAMPLE, /* a tick found the thread in `function` */
	EVENT_USER,   /* the program called cpprof_event(id, value) */
};

struct event {
	enum event_kind kind;
	uint64_t time_ns;     /* since the recording began */
	uint32_t process;     /* its pid */
	uint32_t thread;      /* its tid */
	const char *function; /* not of EVENT_USER; the source's, until the next `next` */
	uint64_t id, value;   /* of EVENT_USER */
};

struct event_source {
	/* 1: `event` is filled in; 0: there are no more; a negative error, with `error` filled in. */
	int (*next)(struct event_source *source, struct event *event, struct error *error);
	/* Frees the source. */
	void (*close)(struct event_source *source);
};

#endif
