#include "ui/page/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"

/* The state while bytes are read. Each call and mark takes at least two bytes, so that a count can be checked before memory is
 * allocated for it. */
struct reading {
	struct cursor cursor;
	struct lanes *lanes;
};

static bool is_possible(const struct reading *reading, uint64_t count)
{
	return !reading->cursor.failed && count <= cursor_left(&reading->cursor);
}

static uint32_t read_name(struct reading *reading, uint64_t name)
{
	if (name >= reading->lanes->name_count)
		reading->cursor.failed = true;
	return (uint32_t)name;
}

static int read_names(struct reading *reading)
{
	struct lanes *lanes = reading->lanes;
	uint64_t count = cursor_varint(&reading->cursor);
	if (!is_possible(reading, count))
		return ERROR_CORRUPT;
	size_t size = cursor_left(&reading->cursor);
	lanes->texts = malloc(size + 1);
	lanes->names = calloc(count + 1, sizeof(*lanes->names));
	if (!lanes->texts || !lanes->names)
		return ERROR_MEMORY;
	memcpy(lanes->texts, reading->cursor.next, size);
	const uint8_t *first = reading->cursor.next;
	for (; lanes->name_count < count; lanes->name_count++) {
		const char *text = cursor_string(&reading->cursor);
		if (!text)
			return ERROR_CORRUPT;
		lanes->names[lanes->name_count] = lanes->texts + ((const uint8_t *)text - first);
	}
	return 0;
}

/* Notes where each depth begins. Depths follow each other without gaps. */
static int begin_depth(struct lane *lane, size_t *capacity, uint64_t depth, size_t call)
{
	if (lane->depth_count > 0 && depth == lane->depth_count - 1)
		return 0;
	if (depth != lane->depth_count)
		return ERROR_CORRUPT;
	if (ARRAY_RESERVE(lane->depths, *capacity, lane->depth_count + 2) < 0)
		return ERROR_MEMORY;
	lane->depths[lane->depth_count++] = call;
	return 0;
}

static int read_calls(struct reading *reading, struct lane *lane)
{
	struct cursor *cursor = &reading->cursor;
	size_t capacity = 0;
	uint64_t before = 0;
	lane->calls = malloc((lane->call_count + 1) * sizeof(*lane->calls));
	if (!lane->calls)
		return ERROR_MEMORY;
	for (size_t i = 0; i < lane->call_count; i++) {
		size_t depths = lane->depth_count;
		int status = begin_depth(lane, &capacity, cursor_varint(cursor), i);
		if (status < 0)
			return status;
		uint32_t name = read_name(reading, cursor_varint(cursor));
		uint64_t start = (lane->depth_count > depths ? 0 : before) + cursor_varint(cursor);
		uint64_t duration = cursor_varint(cursor);
		if (cursor->failed || start < (lane->depth_count > depths ? 0 : before))
			return ERROR_CORRUPT;
		lane->calls[i] = (struct lane_call){
			.start_ns = start, .end_ns = start + (duration >> 1), .name = name, .is_open = duration & 1
		};
		before = start;
	}
	if (lane->depth_count > 0)
		lane->depths[lane->depth_count] = lane->call_count;
	return 0;
}

static int read_marks(struct reading *reading, struct lane *lane)
{
	struct cursor *cursor = &reading->cursor;
	uint64_t before = 0;
	lane->marks = malloc((lane->mark_count + 1) * sizeof(*lane->marks));
	if (!lane->marks)
		return ERROR_MEMORY;
	for (size_t i = 0; i < lane->mark_count; i++) {
		uint64_t name = cursor_varint(cursor);
		uint64_t time = before + cursor_varint(cursor);
		lane->marks[i] = (struct lane_mark){ .time_ns = time,
						     .name = read_name(reading, name >> 1),
						     .is_user = name & 1 };
		if (cursor->failed || time < before)
			return ERROR_CORRUPT;
		before = time;
	}
	return 0;
}

static int read_lane(struct reading *reading, struct lane *lane)
{
	lane->process = (uint32_t)cursor_varint(&reading->cursor);
	lane->thread = (uint32_t)cursor_varint(&reading->cursor);
	uint64_t calls = cursor_varint(&reading->cursor), marks = cursor_varint(&reading->cursor);
	if (!is_possible(reading, calls) || !is_possible(reading, marks))
		return ERROR_CORRUPT;
	lane->call_count = (size_t)calls;
	lane->mark_count = (size_t)marks;
	int status = read_calls(reading, lane);
	return status < 0 ? status : read_marks(reading, lane);
}

static int read_all(struct reading *reading)
{
	struct lanes *lanes = reading->lanes;
	int status = read_names(reading);
	if (status < 0)
		return status;
	lanes->end_ns = cursor_varint(&reading->cursor);
	lanes->left_out = cursor_varint(&reading->cursor);
	uint64_t count = cursor_varint(&reading->cursor);
	if (!is_possible(reading, count))
		return ERROR_CORRUPT;
	lanes->lanes = calloc(count + 1, sizeof(*lanes->lanes));
	if (!lanes->lanes)
		return ERROR_MEMORY;
	for (; lanes->lane_count < count && status == 0;)
		status = read_lane(reading, &lanes->lanes[lanes->lane_count++]);
	return status == 0 && cursor_left(&reading->cursor) > 0 ? ERROR_CORRUPT : status;
}

struct lanes *lanes_read(const void *bytes, size_t size, struct error *error)
{
	struct reading reading = { .cursor = cursor_over(bytes, size), .lanes = calloc(1, sizeof(*reading.lanes)) };
	int status = reading.lanes ? read_all(&reading) : ERROR_MEMORY;
	if (status == 0)
		return reading.lanes;
	lanes_free(reading.lanes);
	error_set(error, status, "cannot read the events of the trace: %s", error_text(status));
	return NULL;
}

void lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	for (size_t i = 0; i < lanes->lane_count; i++) {
		free(lanes->lanes[i].calls);
		free(lanes->lanes[i].depths);
		free(lanes->lanes[i].marks);
	}
	free(lanes->lanes);
	free(lanes->names);
	free(lanes->texts);
	free(lanes);
}

/* --- what a picture shows --- */

struct visit {
	const struct lane_window *window;
	struct lane_box *boxes;
	size_t capacity, found;
};

static void add_box(struct visit *visit, const struct lane_box *box)
{
	if (visit->found < visit->capacity)
		visit->boxes[visit->found] = *box;
	visit->found++;
}

/* Returns the first of the calls first ... end - 1 that begins at `time` or later. */
static size_t first_call(const struct lane_call *calls, size_t first, size_t end, uint64_t time)
{
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (calls[middle].start_ns < time)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static size_t first_mark(const struct lane_mark *marks, size_t first, size_t end, uint64_t time)
{
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (marks[middle].time_ns < time)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Returns the first call of a depth that ends after `time` or begins then or later. */
static size_t first_reaching(const struct lane *lane, uint32_t depth, uint64_t time)
{
	/* Calls of one depth do not overlap, so only the last one that began before the time may reach beyond it. */
	size_t at = first_call(lane->calls, lane->depths[depth], lane->depths[depth + 1], time);
	return at > lane->depths[depth] && lane->calls[at - 1].end_ns > time ? at - 1 : at;
}

static void visit_depth(struct visit *visit, const struct lane *lane, uint32_t depth)
{
	const struct lane_call *calls = lane->calls;
	size_t end = lane->depths[depth + 1];
	size_t at = first_reaching(lane, depth, visit->window->from_ns);
	while (at < end && calls[at].start_ns < visit->window->to_ns) {
		const struct lane_call *call = &calls[at];
		size_t next = at + 1;
		if (call->end_ns - call->start_ns < visit->window->narrow_ns)
			next = first_call(calls, next, end, call->start_ns + visit->window->narrow_ns);
		/* The last one may be wide: it gets a box of its own. */
		if (next > at + 1 && calls[next - 1].end_ns - calls[next - 1].start_ns >= visit->window->narrow_ns)
			next--;
		add_box(visit, &(struct lane_box){ .start_ns = call->start_ns,
						   .end_ns = calls[next - 1].end_ns,
						   .name = call->name,
						   .count = (uint32_t)(next - at),
						   .depth = depth,
						   .is_open = call->is_open });
		at = next;
	}
}

static void visit_marks(struct visit *visit, const struct lane *lane)
{
	size_t at = first_mark(lane->marks, 0, lane->mark_count, visit->window->from_ns);
	while (at < lane->mark_count && lane->marks[at].time_ns < visit->window->to_ns) {
		const struct lane_mark *mark = &lane->marks[at];
		size_t next = at + 1;
		if (visit->window->narrow_ns > 0)
			next = first_mark(lane->marks, next, lane->mark_count,
					  mark->time_ns + visit->window->narrow_ns);
		add_box(visit, &(struct lane_box){ .start_ns = mark->time_ns,
						   .end_ns = lane->marks[next - 1].time_ns,
						   .name = mark->name,
						   .count = (uint32_t)(next - at),
						   .is_mark = true,
						   .is_user = mark->is_user });
		at = next;
	}
}

size_t lanes_visible(const struct lane *lane, const struct lane_window *window, struct lane_box *boxes, size_t capacity)
{
	struct visit visit = { .window = window, .boxes = boxes, .capacity = capacity };
	visit_marks(&visit, lane);
	for (uint32_t depth = 0; depth < lane->depth_count && (window->depths == 0 || depth < window->depths); depth++)
		visit_depth(&visit, lane, depth);
	return visit.found;
}

void lanes_count(const struct lane *lane, uint64_t from_ns, uint64_t to_ns, size_t *calls, size_t *marks)
{
	*calls = 0;
	for (uint32_t depth = 0; depth < lane->depth_count && from_ns < to_ns; depth++) {
		size_t first = first_reaching(lane, depth, from_ns);
		*calls += first_call(lane->calls, first, lane->depths[depth + 1], to_ns) - first;
	}
	size_t first = first_mark(lane->marks, 0, lane->mark_count, from_ns);
	*marks = first_mark(lane->marks, first, lane->mark_count, to_ns) - first;
}
