/* The events of a trace: what is written is read again, calls without an end get one, and a picture joins what is narrow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "ui/page/lanes.h"

/* An event source of a list. */
struct listed {
	struct event_source base;
	const struct event *events;
	size_t count, next;
};

static int next_listed(struct event_source *source, struct event *event, struct error *error)
{
	struct listed *listed = (struct listed *)source;
	(void)error;
	if (listed->next == listed->count)
		return 0;
	*event = listed->events[listed->next++];
	return 1;
}

#define IN(kind_, at, name)                                                                     \
	{                                                                                       \
		.kind = (kind_), .time_ns = (at), .process = 7, .thread = 8, .function = (name) \
	}

#define ENTER(at, name, around)                                                                                        \
	{                                                                                                              \
		.kind = EVENT_ENTER, .time_ns = (at), .process = 7, .thread = 8, .function = (name), .depth = (around) \
	}

/* main calls f, which calls itself, then g, whose end is missing, and runs on; another thread has one call of no length. */
static const struct event events[] = {
	ENTER(100, "main", 0),
	ENTER(200, "f", 1),
	ENTER(250, "f", 2),
	IN(EVENT_SAMPLE, 260, "f"),
	IN(EVENT_LEAVE, 300, "f"),
	{ .kind = EVENT_USER, .time_ns = 310, .process = 7, .thread = 8, .id = 3, .value = 42 },
	IN(EVENT_LEAVE, 400, "f"),
	ENTER(500, "g", 1),
	IN(EVENT_LEAVE, 900, "main"),
	IN(EVENT_LEAVE, 950, "none"),
	{ .kind = EVENT_ENTER, .time_ns = 600, .process = 7, .thread = 9, .function = "f" },
};
enum { EVENTS = sizeof(events) / sizeof(*events) };

static struct lanes_written counts; /* of the last writing */

static struct buffer written_of(const struct event *given, size_t count, size_t most)
{
	struct listed listed = { .base = { .next = next_listed }, .events = given, .count = count };
	struct buffer bytes;
	struct error error;
	buffer_init(&bytes);
	assert_int_equal(lanes_write(&listed.base, most, &bytes, &counts, &error), 0);
	assert_true(counts.count <= most && (counts.left_out == 0 || counts.count == most));
	return bytes;
}

static struct buffer written(size_t most)
{
	return written_of(events, EVENTS, most);
}

static struct lanes *read_back(struct buffer bytes)
{
	struct error error = { 0 };
	struct lanes *lanes = lanes_read(bytes.bytes, bytes.size, &error);
	if (!lanes)
		fail_msg("%s", error.message);
	buffer_release(&bytes);
	return lanes;
}

static struct lanes *lanes_of(size_t most)
{
	return read_back(written(most));
}

static void assert_call(const struct lanes *lanes, const struct lane_call *call, const char *name, uint64_t start,
			uint64_t end, bool is_open)
{
	assert_string_equal(lanes->names[call->name], name);
	assert_int_equal(call->start_ns, start);
	assert_int_equal(call->end_ns, end);
	assert_int_equal(call->is_open, is_open);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	struct lanes *lanes = lanes_of(1000);
	assert_int_equal(lanes->lane_count, 2);
	assert_int_equal(lanes->end_ns, 950);
	assert_int_equal(lanes->left_out, 0);
	const struct lane *lane = &lanes->lanes[0];
	assert_int_equal(lane->process, 7);
	assert_int_equal(lane->thread, 8);
	assert_int_equal(lane->call_count, 4);
	assert_int_equal(lane->depth_count, 3);
	assert_call(lanes, &lane->calls[0], "main", 100, 900, false);
	assert_call(lanes, &lane->calls[1], "f", 200, 400, false);
	assert_call(lanes, &lane->calls[2], "g", 500, 900, true); /* it ends with its caller */
	assert_call(lanes, &lane->calls[3], "f", 250, 300, false);
	assert_int_equal(lane->mark_count, 2);
	assert_int_equal(lane->marks[0].time_ns, 260);
	assert_false(lane->marks[0].is_user);
	assert_string_equal(lanes->names[lane->marks[1].name], "3 42");
	assert_true(lane->marks[1].is_user);
	assert_call(lanes, &lanes->lanes[1].calls[0], "f", 600, 600, true);
	lanes_free(lanes);
}

/* Hooks that report entries only: a call lasts until one begins that it does not contain. */
static void calls_without_ends(void **state)
{
	(void)state;
	static const struct event entries[] = { ENTER(100, "main", 0), ENTER(200, "f", 1), ENTER(300, "g", 2),
						ENTER(400, "g", 1), ENTER(450, "f", 2) };
	struct lanes *lanes = read_back(written_of(entries, sizeof(entries) / sizeof(*entries), 1000));
	const struct lane *lane = &lanes->lanes[0];
	assert_int_equal(lane->call_count, 5);
	assert_int_equal(lane->depth_count, 3);
	assert_call(lanes, &lane->calls[0], "main", 100, 450, true);
	assert_call(lanes, &lane->calls[1], "f", 200, 400, true);
	assert_call(lanes, &lane->calls[2], "g", 400, 450, true);
	assert_call(lanes, &lane->calls[3], "g", 300, 400, true);
	assert_call(lanes, &lane->calls[4], "f", 450, 450, true);
	lanes_free(lanes);
}

static void events_above_the_limit_are_counted(void **state)
{
	(void)state;
	struct lanes *lanes = lanes_of(2);
	assert_int_equal(lanes->left_out, 5);
	assert_int_equal(counts.left_out, 5);
	assert_int_equal(counts.count, 2);
	assert_int_equal(lanes->lanes[0].call_count, 2);
	assert_call(lanes, &lanes->lanes[0].calls[1], "f", 200, 400,
		    false); /* the end of the f that was left out is not its end */
	lanes_free(lanes);
}

static struct lane_box boxes[8];

static size_t visible(const struct lane *lane, uint64_t from_ns, uint64_t to_ns, uint64_t narrow_ns, size_t capacity)
{
	return lanes_visible(lane, &(struct lane_window){ from_ns, to_ns, narrow_ns, 0 }, boxes, capacity);
}

static void pictures(void **state)
{
	(void)state;
	struct lanes *lanes = lanes_of(1000);
	assert_int_equal(visible(&lanes->lanes[0], 0, 1000, 1, 8), 6);
	assert_true(boxes[0].is_mark && boxes[1].is_user);
	assert_int_equal(boxes[2].depth, 0);
	/* A range inside of main, before g and behind the inner f. */
	assert_int_equal(visible(&lanes->lanes[0], 320, 390, 1, 8), 2);
	assert_int_equal(boxes[1].start_ns, 200);
	/* f takes 200 ns and g 400: what is shorter than 450 and begins within it becomes one. */
	size_t count = visible(&lanes->lanes[0], 0, 1000, 450, 8);
	assert_int_equal(count, 4);
	assert_int_equal(boxes[0].count, 2);
	assert_int_equal(boxes[2].depth, 1);
	assert_int_equal(boxes[2].count, 2);
	assert_int_equal(boxes[2].end_ns, 900);
	/* g is wide enough for a box of its own. */
	assert_int_equal(visible(&lanes->lanes[0], 0, 1000, 350, 8), 5);
	assert_int_equal(visible(&lanes->lanes[0], 0, 1000, 1, 0), 6);
	/* The marks and main, without what it calls. */
	assert_int_equal(lanes_visible(&lanes->lanes[0], &(struct lane_window){ 0, 1000, 1, 1 }, boxes, 8), 3);
	assert_int_equal(boxes[2].depth, 0);
	lanes_free(lanes);
}

/* The counts of a range are the counts of its boxes, where each call and mark has one of its own. */
static void counts_of_a_range(void **state)
{
	(void)state;
	struct lanes *lanes = lanes_of(1000);
	const struct lane *lane = &lanes->lanes[0];
	size_t calls, marks;
	lanes_count(lane, 0, 1000, &calls, &marks);
	assert_int_equal(calls, 4);
	assert_int_equal(marks, 2);
	lanes_count(lane, 260, 310, &calls, &marks); /* the first mark, not the second; main and both f */
	assert_int_equal(calls, 3);
	assert_int_equal(marks, 1);
	for (uint64_t from = 0; from < 1000; from += 10)
		for (uint64_t to = from; to < 1000; to += 10) {
			lanes_count(lane, from, to, &calls, &marks);
			assert_int_equal(calls + marks, from < to ? visible(lane, from, to, 0, 8) : 0);
		}
	lanes_count(&lanes->lanes[1], 600, 601, &calls, &marks); /* a call of no length is where it begins */
	assert_int_equal(calls, 1);
	lanes_free(lanes);
}

/* Neither a cut nor a changed byte makes the reader read or write elsewhere, which the sanitizers watch. */
static void damaged_bytes(void **state)
{
	(void)state;
	struct error error;
	struct buffer bytes = written(1000);
	for (size_t size = 0; size < bytes.size; size++) {
		assert_null(lanes_read(bytes.bytes, size, &error));
		assert_int_equal(error.code, ERROR_CORRUPT);
	}
	for (size_t at = 0; at < bytes.size; at++)
		for (unsigned change = 1; change < 256; change += 3) {
			bytes.bytes[at] ^= (uint8_t)change;
			struct lanes *lanes = lanes_read(bytes.bytes, bytes.size, &error);
			for (size_t i = 0; lanes && i < lanes->lane_count; i++)
				visible(&lanes->lanes[i], 0, 1000, 10, 4);
			lanes_free(lanes);
			bytes.bytes[at] ^= (uint8_t)change;
		}
	buffer_release(&bytes);
}

static void write_and_read(void)
{
	struct listed listed = { .base = { .next = next_listed }, .events = events, .count = EVENTS };
	struct buffer bytes;
	struct error error;
	buffer_init(&bytes);
	if (lanes_write(&listed.base, 1000, &bytes, &counts, &error) == 0)
		lanes_free(lanes_read(bytes.bytes, bytes.size, &error));
	buffer_release(&bytes);
}

static void without_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(write_and_read());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(calls_without_ends),
		cmocka_unit_test(events_above_the_limit_are_counted),
		cmocka_unit_test(pictures),
		cmocka_unit_test(counts_of_a_range),
		cmocka_unit_test(damaged_bytes),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
