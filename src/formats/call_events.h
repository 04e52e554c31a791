/*
 * The events of a trace as formats with begin and end of calls need them: thread by thread, each
 * call with an end, and only those that the selection has.
 *
 *     source     enter main   enter parse                 leave main        (the end of `parse` was not recorded)
 *     these      begin thread   enter main   enter parse   leave parse   leave main   end thread
 *
 * A call that was open before --from begins then, and one that is open at --to ends then. A call
 * whose end was not recorded ends where the next call begins that it does not contain, with its
 * caller, or with the last event of its thread. Times of a thread do not decrease.
 */
#ifndef FORMATS_CALL_EVENTS_H
#define FORMATS_CALL_EVENTS_H

#include "formats/format.h"

enum call_event_kind {
	CALL_THREAD_BEGIN,
	CALL_ENTER,
	CALL_LEAVE,  /* ends the innermost open call; has its name */
	CALL_SAMPLE, /* a tick found the thread in the function */
	CALL_USER,   /* the program called cpprof_event(id, value) */
	CALL_THREAD_END,
};

struct call_event {
	enum call_event_kind kind;
	uint64_t time_ns; /* since the start of the recording */
	uint32_t process; /* pid */
	uint32_t thread;  /* tid */
	uint32_t name;    /* of the function: index for call_events_name */
	uint64_t id, value;
};

/* Returns the events of input->events in the selection of input->view, or NULL if there is no
 * memory. The input must outlive them. */
struct call_events *call_events_new(const struct format_input *input);
void call_events_free(struct call_events *events); /* accepts NULL */

/* Returns 1 with `event` filled in, 0 if there are no more, or a negative error with `error` set. */
int call_events_next(struct call_events *events, struct call_event *event, struct error *error);

/* Whether an event of the trace is of a process and thread that input->view selects (--process, --cgroup, --thread). */
bool event_is_chosen(const struct format_input *input, const struct event *event);

/* Returns the thread of the profile that an event is of, or PROFILE_NONE. */
uint32_t call_event_thread(const struct profile *profile, const struct call_event *event);

/* Returns the number of names in the events so far, and "", which is name 0. */
uint32_t call_events_name_count(const struct call_events *events);
const char *call_events_name(const struct call_events *events, uint32_t name);

#endif
