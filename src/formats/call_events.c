#include "formats/call_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"

struct open_call {
	uint32_t name;
	uint64_t start_ns;
};

/*
 * Invariants between two calls of call_events_next:
 *   - calls open[0] ... open[reported - 1] have been entered and not left by the events that were returned
 *   - `pending` is an event of the source that has not been processed, if has_pending
 *   - is_in_thread: the events of thread `thread` go on
 */
struct call_events {
	const struct format_input *input;
	uint64_t from_ns, to_ns;
	struct strings names;
	struct open_call *open;
	size_t open_count, open_capacity, reported;
	struct event pending;
	bool has_pending, has_ended;
	bool is_in_thread;
	uint32_t process, thread;
	uint64_t last_ns;
	size_t keep;     /* calls that remain open after the event that is being processed */
	bool is_leaving; /* open[keep]... end at leave_ns */
	uint64_t leave_ns;
};

struct call_events *call_events_new(const struct format_input *input)
{
	struct call_events *events = calloc(1, sizeof(*events));
	if (!events || strings_init(&events->names) < 0) {
		free(events);
		return NULL;
	}
	events->input = input;
	events->from_ns = input->view.from_ns;
	events->to_ns = input->view.to_ns ? input->view.to_ns : UINT64_MAX;
	return events;
}

void call_events_free(struct call_events *events)
{
	if (!events)
		return;
	strings_release(&events->names);
	free(events->open);
	free(events);
}

uint32_t call_events_name_count(const struct call_events *events)
{
	return (uint32_t)events->names.count;
}

const char *call_events_name(const struct call_events *events, uint32_t name)
{
	return strings_get(&events->names, name);
}

/* --- events --- */

static void fill(const struct call_events *events, enum call_event_kind kind, uint64_t time_ns, uint32_t name,
		 struct call_event *event)
{
	*event = (struct call_event){
		.kind = kind, .time_ns = time_ns, .process = events->process, .thread = events->thread, .name = name
	};
}

/* Ends calls down to `keep`, one per call. Returns whether it filled in `event`. */
static bool report_leave(struct call_events *events, struct call_event *event)
{
	while (events->is_leaving && events->open_count > events->keep) {
		const struct open_call *call = &events->open[--events->open_count];
		if (events->reported <= events->open_count)
			continue; /* it was not in the range of time */
		events->reported = events->open_count;
		uint64_t end = events->leave_ns < events->to_ns ? events->leave_ns : events->to_ns;
		fill(events, CALL_LEAVE, end > call->start_ns ? end : call->start_ns, call->name, event);
		return true;
	}
	events->is_leaving = false;
	return false;
}

/* Enters open calls that began before the range of time and reach into it. Returns whether it filled in `event`. */
static bool report_enter(struct call_events *events, uint64_t time_ns, struct call_event *event)
{
	if (time_ns < events->from_ns || events->reported == events->open_count)
		return false;
	struct open_call *call = &events->open[events->reported];
	if (call->start_ns >= events->to_ns)
		return false;
	if (call->start_ns < events->from_ns)
		call->start_ns = events->from_ns;
	events->reported++;
	fill(events, CALL_ENTER, call->start_ns, call->name, event);
	return true;
}

static int enter(struct call_events *events, const struct event *event)
{
	int64_t name = strings_add(&events->names, event->function, strlen(event->function));
	if (name < 0 || ARRAY_RESERVE(events->open, events->open_capacity, events->open_count + 1) < 0)
		return ERROR_MEMORY;
	events->open[events->open_count++] = (struct open_call){ (uint32_t)name, event->time_ns };
	return 0;
}

/* Ends the innermost call of the function, and those below it. */
static void leave(struct call_events *events, const struct event *event)
{
	size_t at = events->open_count;
	while (at > 0 && strcmp(call_events_name(events, events->open[at - 1].name), event->function) != 0)
		at--;
	if (at == 0)
		return;
	events->is_leaving = true;
	events->keep = at - 1;
	events->leave_ns = event->time_ns;
}

/* Returns 1 if it filled in `event`, 0 if the event is not shown, or a negative error. */
static int report_mark(struct call_events *events, const struct event *mark, struct call_event *event)
{
	int64_t name = 0;
	if (mark->time_ns < events->from_ns || mark->time_ns >= events->to_ns)
		return 0;
	if (mark->kind == EVENT_SAMPLE)
		name = strings_add(&events->names, mark->function, strlen(mark->function));
	if (name < 0)
		return (int)name;
	fill(events, mark->kind == EVENT_SAMPLE ? CALL_SAMPLE : CALL_USER, mark->time_ns, (uint32_t)name, event);
	event->id = mark->id;
	event->value = mark->value;
	return 1;
}

/* Processes the pending event, which is of the current thread. Returns 1 if it filled in
 * `event`, 0 or a negative error. */
static int take(struct call_events *events, struct call_event *event)
{
	struct event *pending = &events->pending;
	if (pending->time_ns < events->last_ns)
		pending->time_ns = events->last_ns;
	events->last_ns = pending->time_ns;
	if (report_enter(events, pending->time_ns, event))
		return 1;
	/* The pending event stays until the calls that have ended before it are reported. */
	if (pending->kind == EVENT_ENTER && events->open_count > pending->depth) {
		events->is_leaving = true;
		events->keep = pending->depth;
		events->leave_ns = pending->time_ns;
		return report_leave(events, event);
	}
	events->has_pending = false;
	switch (pending->kind) {
	case EVENT_ENTER: {
		int status = enter(events, pending);
		return status < 0 ? status : report_enter(events, pending->time_ns, event);
	}
	case EVENT_LEAVE:
		leave(events, pending);
		return report_leave(events, event);
	default:
		return report_mark(events, pending, event);
	}
}

/* --- thread after thread --- */

static int read_event(struct call_events *events, struct error *error)
{
	struct event_source *source = events->input->events;
	int status = 1;
	while (!events->has_pending && !events->has_ended && status > 0) {
		status = source->next(source, &events->pending, error);
		events->has_ended = status == 0;
		events->has_pending = status > 0 && event_is_chosen(events->input, &events->pending);
	}
	return status < 0 ? status : 0;
}

static bool goes_on(const struct call_events *events)
{
	return events->has_pending && events->pending.thread == events->thread &&
	       events->pending.process == events->process;
}

static void begin_thread(struct call_events *events, struct call_event *event)
{
	events->is_in_thread = true;
	events->process = events->pending.process;
	events->thread = events->pending.thread;
	events->last_ns = 0;
	fill(events, CALL_THREAD_BEGIN, events->pending.time_ns, 0, event);
}

/* Ends the open calls first. */
static void end_thread(struct call_events *events, struct call_event *event)
{
	if (report_enter(events, events->last_ns, event))
		return;
	if (events->open_count > 0) {
		events->is_leaving = true;
		events->keep = 0;
		events->leave_ns = events->last_ns;
	}
	if (report_leave(events, event))
		return;
	events->is_in_thread = false;
	events->reported = 0;
	fill(events, CALL_THREAD_END, events->last_ns, 0, event);
}

int call_events_next(struct call_events *events, struct call_event *event, struct error *error)
{
	for (;;) {
		if (report_leave(events, event))
			return 1;
		int status = read_event(events, error);
		if (status < 0)
			return status;
		if (events->is_in_thread && !goes_on(events)) {
			end_thread(events, event);
			return 1;
		}
		if (!events->has_pending)
			return 0;
		if (!events->is_in_thread) {
			begin_thread(events, event);
			return 1;
		}
		status = take(events, event);
		if (status < 0)
			return error_set(error, status, "out of memory while reading the trace");
		if (status > 0)
			return 1;
	}
}

uint32_t call_event_thread(const struct profile *profile, const struct call_event *event)
{
	for (uint32_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].tid == event->thread &&
		    profile->processes[profile->threads[i].process].pid == event->process)
			return i;
	return PROFILE_NONE;
}

static bool has_process(const struct format_input *input, uint32_t pid)
{
	const struct profile *profile = input->profile;
	if (!input->view.processes)
		return true;
	for (size_t i = 0; i < profile->process_count; i++)
		if (input->view.processes[i] && profile->processes[i].pid == pid)
			return true;
	return false;
}

bool event_is_chosen(const struct format_input *input, const struct event *event)
{
	const struct profile *profile = input->profile;
	if (!has_process(input, event->process))
		return false;
	if (input->view.thread == VIEW_ANY)
		return true;
	const struct profile_thread *thread = &profile->threads[input->view.thread];
	return thread->tid == event->thread && profile->processes[thread->process].pid == event->process;
}
