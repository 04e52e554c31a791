#include "ui/explore/narrow.h"

#include <stdlib.h>

/* The rule of the selection in analyze/view.h. */
static bool selects(const struct view_options *options, const struct profile *profile, size_t index)
{
	const struct profile_hit *hit = &profile->hits[index];
	if (options->resource != PROFILE_NONE && hit->resource != options->resource)
		return false;
	if (options->thread != VIEW_ANY && hit->thread != options->thread)
		return false;
	if (options->processes &&
	    (hit->thread >= profile->thread_count || !options->processes[profile->threads[hit->thread].process]))
		return false;
	if (options->label_sets && !options->label_sets[profile_hit_labels(profile, index)])
		return false;
	if (options->from_ns == 0 && options->to_ns == 0)
		return true;
	if (hit->time_ns == 0 || hit->time_ns < profile->start_ns)
		return false;
	uint64_t since = hit->time_ns - profile->start_ns;
	return since >= options->from_ns && (options->to_ns == 0 || since < options->to_ns);
}

int narrow_init(struct profile *narrow, const struct profile *profile, const struct view_options *options,
		struct error *error)
{
	struct profile_hit *hits = malloc((profile->hit_count + 1) * sizeof(*hits));
	if (!hits)
		return error_set(error, ERROR_MEMORY, "out of memory");
	size_t count = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		if (selects(options, profile, i))
			hits[count++] = profile->hits[i];
	}
	*narrow = *profile;
	narrow->hits = hits;
	narrow->hit_count = count;
	narrow->hit_capacity = count;
	narrow->hit_label_count = 0;
	return 0;
}

void narrow_release(struct profile *narrow)
{
	free(narrow->hits);
	narrow->hits = NULL;
	narrow->hit_count = 0;
}
