/* Lists of probe points: positions in files at which a probe is attached. */
#ifndef COLLECT_SAMPLE_PROBES_POINTS_H
#define COLLECT_SAMPLE_PROBES_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames/native/value_type.h"

/* One function to watch. Its amount is arguments[argument] * arguments[factor]. */
struct probe_point {
	char *path;             /* path of its file, as we see it; owned */
	uint64_t offset;        /* in the file, of its first instruction; USDT: 0 */
	uint8_t argument;       /* 1 to 6: the integer argument that is the amount; 0: 1 each */
	uint8_t factor;         /* 1 to 6: an argument that multiplies the amount; 0: none */
	bool at_return;         /* the amount is the return value; 1 each if `argument` is 0 */
	struct value_type type; /* of the amount */
	/* 1 to 6: a call counts only if arguments[guard] > guard_above (unsigned); 0: each
	 * counts. glibc's realloc(NULL, n) is counted by the malloc that it jumps to. */
	uint8_t guard;
	uint32_t guard_above;
};

struct probe_points {
	struct probe_point *items; /* owned */
	size_t count;
};

void probe_points_release(struct probe_points *points); /* {0} is fine */

/* Adds a copy of `point` in the file `path`, unless there is one at that offset. Returns 0 or
 * ERROR_MEMORY. */
int points_add(struct probe_points *points, const char *path, const struct probe_point *point);

#endif
