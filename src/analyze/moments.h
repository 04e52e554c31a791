/*
 * The samples of a thread in the order of time: what was on its stack when.
 *
 * A sample stands for the time that ends with it. Of a resource of time, that is as long as its hits are; of another resource, it is the mean
 * distance of the thread's samples. A gap before it that is shorter than one interval (that distance) belongs to it as well: the time
 * of a sample is not exact.
 *
 * Samples can be joined. A moment of several samples has the path that they share: each frame of it was on the stack in more than half of
 * their hits. There is one such path, because the frames of a path are one inside the other.
 */
#ifndef ANALYZE_MOMENTS_H
#define ANALYZE_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

struct moment {
	uint64_t from_ns, to_ns; /* since the start of the recording; moments do not overlap */
	uint64_t sampled_ns;     /* the time of its last sample */
	uint32_t node;           /* of the view; 0: its samples share no frame */
};

struct moments {
	struct moment *items; /* owned; in the order of time */
	size_t count;
};

/* Finds the moments of a view that selects one thread and has `view_node`. Samples with equal times are one moment, and samples within
 * each `detail_ns`; 0: only those with equal times. A profile whose times were rounded to the middle of periods (ui/page/compact.h) has
 * this period; 0: its times are as recorded. Returns moments that the caller frees, or NULL with `error` set: ERROR_MEMORY. */
struct moments *analyze_moments(const struct view *view, uint64_t period_ns, uint64_t detail_ns, struct error *error);
void moments_free(struct moments *moments); /* accepts NULL */

#endif
