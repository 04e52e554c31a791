#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "formats/chrome_import.h"

/* A call, first with its beginning only. */
struct call {
	uint64_t start_ns, end_ns;
	uint32_t name, order;
};

struct open_call {
	uint64_t end_ns;
	uint32_t node;
};

struct calls {
	struct json_import *import;
	uint32_t thread, resource;
	struct call *calls;
	uint32_t *begun; /* indexes of calls whose end has not come */
	struct open_call *open;
	size_t call_count, call_capacity, begun_count, begun_capacity, open_count, open_capacity;
	uint64_t since_ns; /* the time up to here has been added */
};

static int by_thread_and_time(const void *left, const void *right)
{
	const struct chrome_event *a = left, *b = right;
	return COMPARE(a->thread, b->thread) ?: COMPARE(a->time_ns, b->time_ns) ?: COMPARE(a->order, b->order);
}

/* A caller comes before the calls in it. */
static int by_start(const void *left, const void *right)
{
	const struct call *a = left, *b = right;
	return COMPARE(a->start_ns, b->start_ns) ?: COMPARE(b->end_ns, a->end_ns) ?: COMPARE(a->order, b->order);
}

/* --- calls of events --- */

static int add_call(struct calls *calls, const struct chrome_event *event, bool has_end)
{
	if (ARRAY_RESERVE(calls->calls, calls->call_capacity, calls->call_count + 1) < 0 ||
	    ARRAY_RESERVE(calls->begun, calls->begun_capacity, calls->begun_count + 1) < 0)
		return import_tree_fail(&calls->import->tree, ERROR_MEMORY);
	if (!has_end)
		calls->begun[calls->begun_count++] = (uint32_t)calls->call_count;
	calls->calls[calls->call_count++] = (struct call){ .start_ns = event->time_ns,
							   .end_ns = has_end ? event->end_ns : event->time_ns,
							   .name = event->name,
							   .order = event->order };
	return 0;
}

/* Makes the calls of the events of one thread, which are in the order of time. */
static int make_calls(struct calls *calls, const struct chrome_event *events, size_t count)
{
	uint64_t last_ns = 0;
	int code = 0;
	calls->call_count = calls->begun_count = calls->open_count = 0;
	for (size_t i = 0; i < count && code == 0; i++) {
		const struct chrome_event *event = &events[i];
		uint64_t end_ns = event->kind == CHROME_WHOLE ? event->end_ns : event->time_ns;
		last_ns = end_ns > last_ns ? end_ns : last_ns;
		if (event->kind != CHROME_END)
			code = add_call(calls, event, event->kind == CHROME_WHOLE);
		else if (calls->begun_count > 0)
			calls->calls[calls->begun[--calls->begun_count]].end_ns = event->time_ns;
	}
	while (calls->begun_count > 0)
		calls->calls[calls->begun[--calls->begun_count]].end_ns = last_ns;
	return code;
}

/* --- stretches of time --- */

/* Adds the time up to `now_ns` to the innermost open call. */
static int add_time(struct calls *calls, uint64_t now_ns)
{
	uint64_t since_ns = calls->since_ns;
	if (now_ns <= since_ns)
		return 0;
	calls->since_ns = now_ns;
	if (calls->open_count == 0)
		return 0;
	return import_tree_hit(&calls->import->tree, IMPORT_START_NS + since_ns, calls->thread,
			       calls->open[calls->open_count - 1].node, calls->resource, now_ns - since_ns);
}

/* Ends the calls that are over at `now_ns`. */
static int close_calls(struct calls *calls, uint64_t now_ns)
{
	int code = 0;
	while (code == 0 && calls->open_count > 0 && calls->open[calls->open_count - 1].end_ns <= now_ns) {
		code = add_time(calls, calls->open[calls->open_count - 1].end_ns);
		calls->open_count--;
	}
	return code;
}

static int open_call(struct calls *calls, const struct call *call)
{
	const struct open_call *caller = calls->open_count ? &calls->open[calls->open_count - 1] : NULL;
	const char *name = profile_string(calls->import->tree.profile, call->name);
	const struct import_frame frame = { .function = name, .function_bytes = strlen(name) };
	int64_t node = json_import_child(calls->import, caller ? caller->node : PROFILE_ROOT, "", &frame);
	uint64_t end_ns = caller && caller->end_ns < call->end_ns ? caller->end_ns : call->end_ns;
	if (node < 0)
		return (int)node;
	if (ARRAY_RESERVE(calls->open, calls->open_capacity, calls->open_count + 1) < 0)
		return import_tree_fail(&calls->import->tree, ERROR_MEMORY);
	calls->open[calls->open_count++] = (struct open_call){ end_ns, (uint32_t)node };
	return 0;
}

static int add_thread(struct calls *calls, const struct chrome_event *events, size_t count)
{
	int code = make_calls(calls, events, count);
	calls->thread = events[0].thread;
	calls->since_ns = 0;
	if (code == 0)
		qsort(calls->calls, calls->call_count, sizeof(*calls->calls), by_start);
	for (size_t i = 0; i < calls->call_count && code == 0; i++) {
		const struct call *call = &calls->calls[i];
		code = close_calls(calls, call->start_ns);
		if (code == 0)
			code = add_time(calls, call->start_ns);
		if (code == 0)
			code = open_call(calls, call);
	}
	return code < 0 ? code : close_calls(calls, UINT64_MAX);
}

int chrome_add_calls(struct json_import *import, struct chrome_event *events, size_t count, uint32_t resource)
{
	struct calls calls = { .import = import, .resource = resource };
	int code = 0;
	if (count > 0)
		qsort(events, count, sizeof(*events), by_thread_and_time);
	for (size_t first = 0, end; first < count && code == 0; first = end) {
		for (end = first + 1; end < count && events[end].thread == events[first].thread;)
			end++;
		code = add_thread(&calls, events + first, end - first);
	}
	free(calls.calls);
	free(calls.begun);
	free(calls.open);
	return code;
}
