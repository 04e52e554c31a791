#include "ui/explore/totals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "render/render.h"

uint64_t *totals_new(const struct profile *profile, struct error *error)
{
	uint64_t *totals = calloc(profile->resource_count + 1, sizeof(*totals));
	if (!totals) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		bool sampled = profile->resources[hit->resource].kind == RESOURCE_SAMPLED;
		totals[hit->resource] += sampled ? profile_hit_samples(profile, hit) : hit->count;
	}
	return totals;
}

void totals_print(FILE *out, const struct profile *profile, uint32_t resource, uint64_t total)
{
	const struct profile_resource *row = &profile->resources[resource];
	if (row->kind == RESOURCE_EXACT) {
		char amount[64];
		fputs(render_amount(amount, sizeof(amount), (double)total, profile_string(profile, row->unit)), out);
	} else {
		fprintf(out, "%" PRIu64 " sample%s", total, total == 1 ? "" : "s");
	}
}
