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

/* main calls f, which calls itself, then g, whose end is missing, and runs on; another thread has one call of no length. */
static const struct event events[] = {
	IN(EVENT_ENTER, 100, "main"),
	IN(EVENT_ENTER, 200, "f"),
	IN(EVENT_ENTER, 250, "f"),
	IN(EVENT_SAMPLE, 260, "f"),
	IN(EVENT_LEAVE, 300, "f"),
	{ .kind = EVENT_USER, .time_ns = 310, .process = 7, .thread = 8, .id = 3, .value = 42 },
	IN(EVENT_LEAVE, 400, "f"),
	IN(EVENT_ENTER, 500, "g"),
	IN(EVENT_LEAVE, 900, "main"),
	IN(EVENT_LEAVE, 950, "none"),
	{ .kind = EVENT_ENTER, .time_ns = 600, .process = 7, .thread = 9, .function = "f" },
};
enum { EVENTS = sizeof(events) / sizeof(*events) };

static struct buffer written(size_t most)
{
	struct listed listed = { .base = { .next = next_listed }, .events = events, .count = EVENTS };
	struct buffer bytes;
	struct error error;
	buffer_init(&bytes);
	assert_int_equal(lanes_write(&listed.base, most, &bytes, &error), 0);
	return bytes;
}

static struct lanes *lanes_of(size_t most)
{
	struct error error = { 0 };
	struct buffer bytes = written(most);
	struct lanes *lanes = lanes_read(bytes.bytes, bytes.size, &error);
	if (!lanes)
		fail_msg("%s", error.message);
	buffer_release(&bytes);
	return lanes;
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

static void events_above_the_limit_are_counted(void **state)
{
	(void)state;
	struct lanes *lanes = lanes_of(2);
	assert_int_equal(lanes->left_out, 5);
	assert_int_equal(lanes->lanes[0].call_count, 2);
	assert_call(lanes, &lanes->lanes[0].calls[1], "f", 200, 400,
		    false); /* the end of the f that was left out is not its end */
	lanes_free(lanes);
}

static void pictures(void **state)
{
	(void)state;
	struct lanes *lanes = lanes_of(1000);
	struct lane_box boxes[8];
	assert_int_equal(lanes_visible(&lanes->lanes[0], 0, 1000, 1, boxes, 8), 6);
	assert_true(boxes[0].is_mark && boxes[1].is_user);
	assert_int_equal(boxes[2].depth, 0);
	/* A range inside of main, before g and behind the inner f. */
	assert_int_equal(lanes_visible(&lanes->lanes[0], 320, 390, 1, boxes, 8), 2);
	assert_int_equal(boxes[1].start_ns, 200);
	/* f takes 200 ns and g 400: what is shorter than 450 and begins within it becomes one. */
	size_t count = lanes_visible(&lanes->lanes[0], 0, 1000, 450, boxes, 8);
	assert_int_equal(count, 4);
	assert_int_equal(boxes[0].count, 2);
	assert_int_equal(boxes[2].depth, 1);
	assert_int_equal(boxes[2].count, 2);
	assert_int_equal(boxes[2].end_ns, 900);
	/* g is wide enough for a box of its own. */
	assert_int_equal(lanes_visible(&lanes->lanes[0], 0, 1000, 350, boxes, 8), 5);
	assert_int_equal(lanes_visible(&lanes->lanes[0], 0, 1000, 1, boxes, 0), 6);
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
			struct lane_box boxes[4];
			for (size_t i = 0; lanes && i < lanes->lane_count; i++)
				lanes_visible(&lanes->lanes[i], 0, 1000, 10, boxes, 4);
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
	if (lanes_write(&listed.base, 1000, &bytes, &error) == 0)
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
		cmocka_unit_test(events_above_the_limit_are_counted),
		cmocka_unit_test(pictures),
		cmocka_unit_test(damaged_bytes),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
