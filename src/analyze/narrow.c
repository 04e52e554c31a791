#include "analyze/narrow.h"

#include <stdlib.h>

#include "analyze/build.h"

int narrow_init(struct profile *narrow, const struct profile *profile, const struct view_options *options,
		struct error *error)
{
	const struct view view = { .profile = profile, .options = *options };
	struct profile_hit *hits = malloc((profile->hit_count + 1) * sizeof(*hits));
	bool *threads = NULL;
	if (!hits || selection_threads(&view, &threads) < 0) {
		free(hits);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	size_t count = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		bool is_resource = options->resource == PROFILE_NONE || hit->resource == options->resource;
		if (is_resource &&
		    selection_has(&view, threads, hit->thread, hit->time_ns, profile_hit_labels(profile, i)))
			hits[count++] = *hit;
	}
	free(threads);
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
