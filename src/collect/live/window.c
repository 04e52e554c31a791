#include "collect/live/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* How much the recording had lost, and why its walks had ended. */
struct window_mark {
	uint64_t time_ns;
	uint64_t lost;
	uint64_t *causes; /* owned; in the order of the profile, which only grows */
	size_t cause_count;
};

void window_init(struct window *window, uint64_t length_ns, size_t hits_most)
{
	*window = (struct window){ .length_ns = length_ns, .hits_most = hits_most ? hits_most : WINDOW_HITS_MOST };
}

void window_release(struct window *window)
{
	for (size_t i = 0; i < window->mark_count; i++)
		free(window->marks[i].causes);
	free(window->marks);
	free(window->hits);
	*window = (struct window){ 0 };
}

/* --- counts --- */

static int add_mark(struct window *window, const struct profile *profile)
{
	if (ARRAY_RESERVE(window->marks, window->mark_capacity, window->mark_count + 1) < 0)
		return ERROR_MEMORY;
	struct window_mark mark = { profile->end_ns, profile->lost, NULL, profile->cause_count };
	mark.causes = calloc(mark.cause_count + 1, sizeof(*mark.causes));
	if (!mark.causes)
		return ERROR_MEMORY;
	for (size_t i = 0; i < mark.cause_count; i++)
		mark.causes[i] = profile->causes[i].count;
	window->marks[window->mark_count++] = mark;
	return 0;
}

/* Keeps the newest mark that is not in the window, and those behind it. */
static void drop_marks(struct window *window)
{
	size_t old = 0;
	while (old + 1 < window->mark_count && window->marks[old + 1].time_ns <= window->from_ns)
		free(window->marks[old++].causes);
	if (old == 0)
		return;
	window->mark_count -= old;
	memmove(window->marks, window->marks + old, window->mark_count * sizeof(*window->marks));
}

/* Returns the mark at the beginning of the window; NULL: the recording began in it. */
static const struct window_mark *first_mark(const struct window *window)
{
	return window->mark_count > 0 && window->marks[0].time_ns <= window->from_ns ? &window->marks[0] : NULL;
}

static int copy_causes(const struct window_mark *before, const struct profile *from, struct profile *to)
{
	for (size_t i = 0; i < from->cause_count; i++) {
		struct profile_cause row = from->causes[i];
		row.count -= before && i < before->cause_count ? before->causes[i] : 0;
		int status = row.count ? profile_count_cause(to, profile_string(from, row.text), &row) : 0;
		if (status < 0)
			return status;
	}
	return 0;
}

/* --- hits --- */

/* Cuts off the part of a wait that is before from_ns. */
static void cut(struct profile_hit *hit, const struct profile *profile, uint64_t from_ns)
{
	const uint64_t step_ns = profile_hit_ns(profile, hit->resource), samples = UINT64_C(1) + hit->more_samples;
	if (step_ns > 0 && (hit->time_ns - from_ns) / step_ns + 1 < hit->count / samples)
		hit->count = ((hit->time_ns - from_ns) / step_ns + 1) * samples;
}

/* Drops the hits before from_ns. Samples arrive nearly in the order of their times. */
static void drop_hits(struct window *window, const struct profile *profile)
{
	size_t kept = 0;
	for (size_t i = 0; i < window->count; i++) {
		if (window->hits[i].time_ns < window->from_ns)
			continue;
		cut(&window->hits[i], profile, window->from_ns);
		window->hits[kept++] = window->hits[i];
	}
	window->count = kept;
}

/* Shortens the window so that its hits fit. */
static void shorten(struct window *window)
{
	if (window->count <= window->hits_most)
		return;
	size_t old = window->count - window->hits_most;
	window->from_ns = window->hits[old].time_ns;
	window->count = window->hits_most;
	memmove(window->hits, window->hits + old, window->count * sizeof(*window->hits));
}

int window_add(struct window *window, const struct profile *profile)
{
	uint64_t from_ns = profile->end_ns > window->length_ns ? profile->end_ns - window->length_ns : 0;
	from_ns = from_ns > profile->start_ns ? from_ns : profile->start_ns;
	window->from_ns = from_ns > window->from_ns ? from_ns : window->from_ns;
	/* Hits without a time are of the whole recording. */
	size_t kept = window->count;
	if (ARRAY_RESERVE(window->hits, window->capacity, kept + profile->hit_count) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->hit_count; i++)
		if (profile->hits[i].time_ns >= window->from_ns && profile->hits[i].time_ns > 0)
			window->hits[window->count++] = profile->hits[i];
	if (window->count > window->hits_most) {
		drop_hits(window, profile);
		shorten(window);
	}
	int status = add_mark(window, profile);
	drop_marks(window);
	return status;
}

int window_extract(struct window *window, const struct profile *profile, struct profile_extract *extract)
{
	const struct window_mark *before = first_mark(window);
	drop_hits(window, profile);
	int status = profile_extract(extract, profile, window->hits, window->count);
	if (status < 0)
		return status;
	struct profile *made = extract->profile;
	made->start_unix_ns += (int64_t)(window->from_ns - made->start_ns);
	made->start_ns = window->from_ns;
	made->lost -= before ? before->lost : 0;
	status = copy_causes(before, profile, made);
	if (status < 0)
		profile_extract_release(extract);
	return status;
}
