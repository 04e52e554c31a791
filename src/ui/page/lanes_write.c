#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "ui/page/lanes.h"

/* A call while a thread's events are read. */
struct written_call {
	uint64_t start_ns, end_ns;
	uint32_t name, depth;
	bool is_open;
};

struct written_lane {
	uint32_t process, thread;
	struct written_call *calls;
	size_t call_count, call_capacity;
	size_t *open; /* indexes of the calls that go on, outermost first */
	size_t open_count, open_capacity;
	struct lane_mark *marks;
	size_t mark_count, mark_capacity;
	size_t dropped;  /* calls that were left out, and whose ends are still to come */
	uint64_t end_ns; /* of its last event */
};

struct writing {
	struct strings names;
	struct written_lane *lanes;
	size_t lane_count, lane_capacity;
	size_t events, most;
	uint64_t left_out, end_ns;
};

static struct written_lane *lane_of(struct writing *writing, const struct event *event)
{
	for (size_t i = writing->lane_count; i-- > 0;)
		if (writing->lanes[i].thread == event->thread && writing->lanes[i].process == event->process)
			return &writing->lanes[i];
	if (ARRAY_RESERVE(writing->lanes, writing->lane_capacity, writing->lane_count + 1) < 0)
		return NULL;
	struct written_lane *lane = &writing->lanes[writing->lane_count++];
	*lane = (struct written_lane){ .process = event->process, .thread = event->thread };
	return lane;
}

static bool has_room(struct writing *writing)
{
	if (writing->events < writing->most) {
		writing->events++;
		return true;
	}
	writing->left_out++;
	return false;
}

/* Ends the open calls from the innermost up to number `first`. */
static void end_calls(struct written_lane *lane, size_t first, uint64_t end_ns)
{
	while (lane->open_count > first)
		lane->calls[lane->open[--lane->open_count]].end_ns = end_ns;
}

static int enter(struct writing *writing, struct written_lane *lane, const struct event *event)
{
	end_calls(lane, event->depth, event->time_ns);
	if (!has_room(writing)) {
		lane->dropped++;
		return 0;
	}
	int64_t name = strings_add(&writing->names, event->function, strlen(event->function));
	if (name < 0 || ARRAY_RESERVE(lane->calls, lane->call_capacity, lane->call_count + 1) < 0 ||
	    ARRAY_RESERVE(lane->open, lane->open_capacity, lane->open_count + 1) < 0)
		return ERROR_MEMORY;
	lane->open[lane->open_count] = lane->call_count;
	lane->calls[lane->call_count++] = (struct written_call){ .start_ns = event->time_ns,
								 .name = (uint32_t)name,
								 .depth = (uint32_t)lane->open_count++,
								 .is_open = true };
	return 0;
}

/* Ends the innermost call of the function. */
static void leave(struct writing *writing, struct written_lane *lane, const struct event *event)
{
	size_t at = lane->open_count;
	if (lane->dropped > 0) {
		lane->dropped--;
		return;
	}
	while (at > 0 &&
	       strcmp(strings_get(&writing->names, lane->calls[lane->open[at - 1]].name), event->function) != 0)
		at--;
	if (at == 0)
		return;
	lane->calls[lane->open[at - 1]].is_open = false;
	end_calls(lane, at - 1, event->time_ns);
}

static int add_mark(struct writing *writing, struct written_lane *lane, const struct event *event)
{
	char text[64];
	const char *name = event->function;
	if (!has_room(writing))
		return 0;
	if (event->kind == EVENT_USER) {
		snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, event->id, event->value);
		name = text;
	}
	int64_t id = strings_add(&writing->names, name, strlen(name));
	if (id < 0 || ARRAY_RESERVE(lane->marks, lane->mark_capacity, lane->mark_count + 1) < 0)
		return ERROR_MEMORY;
	lane->marks[lane->mark_count++] = (struct lane_mark){ .time_ns = event->time_ns,
							      .name = (uint32_t)id,
							      .is_user = event->kind == EVENT_USER };
	return 0;
}

static int take(struct writing *writing, const struct event *event)
{
	struct written_lane *lane = lane_of(writing, event);
	if (!lane)
		return ERROR_MEMORY;
	if (lane->end_ns < event->time_ns)
		lane->end_ns = event->time_ns;
	if (writing->end_ns < event->time_ns)
		writing->end_ns = event->time_ns;
	switch (event->kind) {
	case EVENT_ENTER:
		return enter(writing, lane, event);
	case EVENT_LEAVE:
		leave(writing, lane, event);
		return 0;
	default:
		return add_mark(writing, lane, event);
	}
}

static int by_depth_and_start(const void *left, const void *right)
{
	const struct written_call *a = left, *b = right;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int by_time(const void *left, const void *right)
{
	const struct lane_mark *a = left, *b = right;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void append_lane(struct buffer *bytes, struct written_lane *lane)
{
	end_calls(lane, 0, lane->end_ns);
	if (lane->call_count > 0)
		qsort(lane->calls, lane->call_count, sizeof(*lane->calls), by_depth_and_start);
	if (lane->mark_count > 0)
		qsort(lane->marks, lane->mark_count, sizeof(*lane->marks), by_time);
	buffer_append_varint(bytes, lane->process);
	buffer_append_varint(bytes, lane->thread);
	buffer_append_varint(bytes, lane->call_count);
	buffer_append_varint(bytes, lane->mark_count);
	uint64_t before = 0;
	for (size_t i = 0; i < lane->call_count; i++) {
		const struct written_call *call = &lane->calls[i];
		if (i == 0 || call->depth != lane->calls[i - 1].depth)
			before = 0;
		uint64_t duration = call->end_ns > call->start_ns ? call->end_ns - call->start_ns : 0;
		buffer_append_varint(bytes, call->depth);
		buffer_append_varint(bytes, call->name);
		buffer_append_varint(bytes, call->start_ns - before);
		buffer_append_varint(bytes, duration << 1 | call->is_open);
		before = call->start_ns;
	}
	before = 0;
	for (size_t i = 0; i < lane->mark_count; i++) {
		buffer_append_varint(bytes, (uint64_t)lane->marks[i].name << 1 | lane->marks[i].is_user);
		buffer_append_varint(bytes, lane->marks[i].time_ns - before);
		before = lane->marks[i].time_ns;
	}
}

static void append_all(struct buffer *bytes, struct writing *writing)
{
	buffer_append_varint(bytes, writing->names.count);
	for (uint32_t i = 0; i < writing->names.count; i++) {
		buffer_append_string(bytes, strings_get(&writing->names, i));
		buffer_append_byte(bytes, 0);
	}
	buffer_append_varint(bytes, writing->end_ns);
	buffer_append_varint(bytes, writing->left_out);
	buffer_append_varint(bytes, writing->lane_count);
	for (size_t i = 0; i < writing->lane_count; i++)
		append_lane(bytes, &writing->lanes[i]);
}

static void writing_release(struct writing *writing)
{
	for (size_t i = 0; i < writing->lane_count; i++) {
		free(writing->lanes[i].calls);
		free(writing->lanes[i].open);
		free(writing->lanes[i].marks);
	}
	free(writing->lanes);
	strings_release(&writing->names);
}

int lanes_write(struct event_source *source, size_t most, struct buffer *bytes, struct lanes_written *written,
		struct error *error)
{
	struct writing writing = { .most = most };
	struct event event;
	int status = strings_init(&writing.names);
	if (status < 0)
		return error_set(error, status, "out of memory");
	while ((status = source->next(source, &event, error)) > 0) {
		status = take(&writing, &event);
		if (status < 0) {
			error_set(error, status, "out of memory while reading the trace");
			break;
		}
	}
	if (status == 0)
		append_all(bytes, &writing);
	if (status == 0 && buffer_error(bytes))
		status = error_set(error, ERROR_MEMORY, "out of memory while reading the trace");
	*written = (struct lanes_written){ writing.events, writing.left_out };
	writing_release(&writing);
	return status;
}
