/*
 * The hits of the last seconds of a recording that goes on, and what these seconds lost.
 *
 *   window_init -> (window_add -> [window_extract])... -> window_release
 */
#ifndef COLLECT_LIVE_WINDOW_H
#define COLLECT_LIVE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "profile/extract.h"
#include "profile/profile.h"

/* More hits are not kept: the window is shorter then. They take 64 MB. */
enum { WINDOW_HITS_MOST = 1 << 21 };

struct window {
	uint64_t length_ns;
	size_t hits_most;
	struct profile_hit *hits; /* owned */
	size_t count, capacity;
	uint64_t from_ns; /* where the window begins */
	struct window_mark
		*marks; /* owned: the recording's counts at the end of each call of window_add, oldest first */
	size_t mark_count, mark_capacity;
};

/* Keeps at most `hits_most` hits; 0: WINDOW_HITS_MOST. */
void window_init(struct window *window, uint64_t length_ns, size_t hits_most);
void window_release(struct window *window);

/* Adds all hits of the profile, whose ids stay the same from call to call, to the window, which
 * ends at profile->end_ns from now on. Returns 0 or ERROR_MEMORY, after which the hits are not
 * in the window. */
int window_add(struct window *window, const struct profile *profile);

/* Drops the hits that are older than the window, and makes a profile of the others
 * (profile/extract.h). It has the losses and the causes of the window alone. Returns 0 or a
 * negative error. */
int window_extract(struct window *window, const struct profile *profile, struct profile_extract *extract);

#endif
