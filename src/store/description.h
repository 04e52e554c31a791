/*
 * The small tables of a profile, without its call paths, hits and touches: resources, processes,
 * threads, causes, notes, findings and label sets. A store keeps them as one profile file for each
 * recording, and adds up the descriptions of the recordings that it selects.
 */
#ifndef STORE_DESCRIPTION_H
#define STORE_DESCRIPTION_H

#include "base/error.h"
#include "profile/profile.h"
#include "store/store.h"

/* By ids of the profile that was added: its ids in the sum. Life cycle: description_sum, description_map_release. */
struct description_map {
	uint32_t *resources, *threads, *label_sets; /* owned; PROFILE_NONE: not a resource of the selection */
	size_t resource_count, thread_count, label_set_count;
};

/*
 * Adds the description of `from` to the description of `to`. Resources of one name become one, whose totals
 * and losses add up; its total is not known (0) if one of them is not. Causes of one text become
 * one, and so do equal notes. Processes and threads are all kept, or none if the selection is a sum; the map then has no ids of theirs.
 * Their times move by `shift_ns`, and a time that is not 0 stays above 0. Each label set gets each of the `labels` whose key it
 * lacks. Resources that the selection does not need are left out.
 *
 * Returns 0, ERROR_MEMORY, ERROR_LIMIT, or ERROR_USAGE where two resources of one name cannot be
 * added up, because their intervals, kinds or units differ. In any case the caller releases the
 * map.
 */
int description_sum(struct description_map *map, struct profile *to, const struct profile *from, int64_t shift_ns,
		    const struct store_labels *labels, const struct store_selection *selection, struct error *error);
void description_map_release(struct description_map *map); /* accepts {0} */

#endif
