/*
 * Events over time as a page shows them: a lane for each thread, and in it the calls as boxes, each below its caller. They are the events of a
 * trace, or the samples of a thread: then a box is a frame that consecutive samples found at the same place of the stack.
 *
 *   lane 4711   main-------------------------
 *                 parse----  write--   write--
 *
 *   lanes_write   reads an event source and makes bytes; `cpprof html` embeds them
 *   lanes_read    makes lanes of these bytes, in the page
 *   lanes_sampled makes a lane of the samples of a profile, in the page
 *   lanes_visible finds what a picture of a range of time shows. The calls of one lane and depth are in the order of time, so that it
 *                 searches, and takes time in proportion to the width of the picture, not to the number of calls
 *
 * A call whose end was not recorded (the program ended, or its hooks report entries only) ends with its caller, or with the last event of
 * its thread.
 *
 * The bytes: LEB128 numbers and texts that end with a NUL.
 *
 *   names: count, then texts
 *   the end of the last event in ns, the calls and marks that were left out, the number of lanes
 *   each lane: pid, tid, calls, marks
 *     each call, by depth and then by start: depth, name, start (from the start of the call before it of the same depth), duration * 2 + open
 *     each mark: name * 2 + 0 (a sample) or 1 (an event of the program, whose name is "ID VALUE"), time (from the time of the mark before it)
 */
#ifndef UI_PAGE_LANES_H
#define UI_PAGE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/event_source.h"

/* A page with so many calls and marks has about 10 MB; so many calls of samples take 24 MB in the browser. */
enum { LANES_EVENTS_MOST = 2000000, LANES_SAMPLED_MOST = 1000000 };

/* How many calls and marks were written, and how many of them were not. */
struct lanes_written {
	uint64_t count, left_out;
};

/* Appends all events of the source to `bytes`, but no more than `most` calls and marks, and sets *written. Returns 0 or a negative error,
 * with `error` set: ERROR_MEMORY, the errors of the source. */
int lanes_write(struct event_source *source, size_t most, struct buffer *bytes, struct lanes_written *written,
		struct error *error);

struct lane_call {
	uint64_t start_ns, end_ns; /* since the start of the recording */
	uint32_t name;             /* index in names */
	bool is_open;              /* its end was not recorded */
};

struct lane_mark {
	uint64_t time_ns;
	uint32_t name;
	bool is_user; /* cpprof_event was called; else the thread was sampled */
};

struct lane {
	uint32_t process, thread; /* pid and tid */
	struct lane_call *calls;  /* owned; depth after depth */
	size_t call_count;
	size_t *depths; /* owned; [depth_count + 1]: the calls of depth d are depths[d] ... depths[d + 1] - 1 */
	size_t depth_count;
	struct lane_mark *marks; /* owned */
	size_t mark_count;
};

struct lanes {
	char *texts;        /* owned; the texts of the names */
	const char **names; /* owned */
	size_t name_count;
	struct lane *lanes; /* owned */
	size_t lane_count;
	uint64_t end_ns;   /* of the last event */
	uint64_t left_out; /* calls and marks that the page does not contain */
};

/* Reads what lanes_write wrote. Returns lanes that the caller frees, or NULL with `error` set: ERROR_CORRUPT, ERROR_MEMORY. */
struct lanes *lanes_read(const void *bytes, size_t size, struct error *error);
void lanes_free(struct lanes *lanes); /* accepts NULL */

enum { LANES_COVERED = 1 };

/* Makes a lane of a view that selects a thread and has `view_node`: each frame of a moment (analyze/moments.h) is a call, which lasts until
 * the end of the last of the following moments that have it, too, even where the thread had no samples in between. The marks are the samples. The calls of lane
 * LANES_COVERED are the times that samples stand for. Above `most` calls, the samples within *detail_ns are joined, which becomes as large as
 * necessary; 0: each sample is by itself. Returns lanes that the caller frees, or NULL with `error` set: ERROR_MEMORY. */
struct lanes *lanes_sampled(const struct view *view, uint64_t period_ns, size_t most, uint64_t *detail_ns,
			    struct error *error);

/* A box of a lane's picture: a call, a mark, or several narrow calls or marks beside each other. */
struct lane_box {
	uint64_t start_ns, end_ns;
	uint32_t name;  /* the name of the first */
	uint32_t count; /* of calls or marks */
	uint32_t depth;
	bool is_open; /* the first one's end was not recorded */
	bool is_mark, is_user;
};

/* The contents of a picture of a lane. */
struct lane_window {
	uint64_t from_ns, to_ns;
	uint64_t narrow_ns; /* calls and marks that begin within it and are shorter become one box */
	uint32_t depths;    /* how many depths are included; 0: all */
};

/* Writes at most `capacity` boxes of a lane that overlap [from_ns, to_ns): marks, then calls by depth and time. Returns the number of all
 * such boxes. */
size_t lanes_visible(const struct lane *lane, const struct lane_window *window, struct lane_box *boxes,
		     size_t capacity);

/* Counts the calls and the marks of a lane that overlap [from_ns, to_ns). */
void lanes_count(const struct lane *lane, uint64_t from_ns, uint64_t to_ns, size_t *calls, size_t *marks);

#endif
