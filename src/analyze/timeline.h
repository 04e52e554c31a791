/*
 * The hits of a selection over time: how busy each thread, or each value of a label, was in each of several equal periods. A sample of
 * time may have several hits: the sample of a wait is taken when the wait ends. Its hits belong evenly to the time before it that they
 * stand for.
 */
#ifndef ANALYZE_TIMELINE_H
#define ANALYZE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/label_groups.h"
#include "analyze/view.h"
#include "base/error.h"

struct timeline {
	const struct profile *profile;   /* whose nodes `marks` are: not owned, or of `transformed` */
	struct transformed *transformed; /* held; NULL: no transforms */
	uint64_t from_ns, to_ns; /* since the start of the recording: the ends of the first and of the last period */
	size_t period_count;
	/* owned; by the values of a key: each is a row; NULL: each thread of the profile is */
	struct label_group_list *groups;
	size_t row_count;
	double *hits; /* owned; [row_count x period_count]: the hits of row r in period p at r x period_count + p */
	/* owned; [the profile's thread_count]: the node that marks where a thread was created (profile/thread_mark.h); PROFILE_ROOT: not known, or none
	 * of its hits is selected */
	uint32_t *marks;
	uint64_t outside; /* hits of the selection without a time or a row */
};

#define TIMELINE_THREADS PROFILE_NONE

/* Counts the hits of `options`; without from_ns and to_ns, over the whole recording. `key` is a string of the profile, whose values are the
 * rows, or TIMELINE_THREADS. `periods` is positive. Returns a timeline that the caller frees, or NULL with `error` set: ERROR_MEMORY, or
 * like view_new. */
struct timeline *analyze_timeline(const struct profile *profile, const struct view_options *options, uint32_t key,
				  size_t periods, struct error *error);
void timeline_free(struct timeline *timeline); /* accepts NULL */

#endif
