#include "analyze/narrow.h"

#include <stdlib.h>

#include "analyze/build.h"

int narrow_init(struct profile *narrow, const struct profile *profile, const struct view_options *options,
		struct error *error)
{
	const struct view view = { .profile = profile, .options = *options };
	struct profile_hit *hits = malloc((profile->hit_count + 1) * sizeof(*hits));
	struct selection selection;
	int status = selection_begin(&selection, &view);
	if (!hits || status < 0) {
		free(hits);
		selection_end(&selection);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	size_t count = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		bool is_resource = options->resource == PROFILE_NONE || hit->resource == options->resource;
		if (is_resource && selection_part(&selection, i, &hits[count]))
			count++;
	}
	selection_end(&selection);
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
