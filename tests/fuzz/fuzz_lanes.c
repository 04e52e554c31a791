/*
 * Arbitrary bytes as the events that a page contains. Lanes that are read have names in range and depths without gaps, and pictures of
 * them end, with names in range.
 * Built for libFuzzer, or with replay.c as a program that runs the stored corpus.
 */
#include <stdlib.h>

#include "ui/page/lanes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_lane(const struct lanes *lanes, const struct lane *lane)
{
	size_t first = 0;
	for (size_t depth = 0; depth < lane->depth_count; depth++) {
		require(lane->depths[depth] == first && lane->depths[depth + 1] > first);
		first = lane->depths[depth + 1];
	}
	require(first == lane->call_count);
	for (size_t i = 0; i < lane->call_count; i++)
		require(lane->calls[i].name < lanes->name_count);
	for (size_t i = 0; i < lane->mark_count; i++)
		require(lane->marks[i].name < lanes->name_count);
}

static void picture(const struct lanes *lanes, const struct lane *lane)
{
	enum { BOXES = 16, WIDTH = 1000 };
	struct lane_box boxes[BOXES];
	const uint64_t narrow[] = { 0, 1, lanes->end_ns / WIDTH, UINT64_MAX };
	for (size_t i = 0; i < sizeof(narrow) / sizeof(*narrow); i++) {
		const struct lane_window window = { lanes->end_ns / 4, lanes->end_ns, narrow[i], 0 };
		size_t found = lanes_visible(lane, &window, boxes, BOXES);
		require(found <= lane->call_count + lane->mark_count);
		for (size_t box = 0; box < found && box < BOXES; box++)
			require(boxes[box].name < lanes->name_count && boxes[box].count > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct lanes *lanes = lanes_read(data, size, &error);
	require(lanes || (error.code < 0 && error.message[0]));
	for (size_t i = 0; lanes && i < lanes->lane_count; i++) {
		check_lane(lanes, &lanes->lanes[i]);
		picture(lanes, &lanes->lanes[i]);
	}
	lanes_free(lanes);
	return 0;
}
