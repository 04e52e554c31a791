/*
 * The samples whose walks went through generated code by frame pointers. Whether such a path is whole is known only when its code has names,
 * which runtimes list late: a frame of code that no runtime describes may have hidden another one. So the samples are counted by the node
 * of their path, until the names are known.
 */
#ifndef COLLECT_SAMPLE_STACKS_GENERATED_PATHS_H
#define COLLECT_SAMPLE_STACKS_GENERATED_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "profile/profile.h"
#include "unwind/cause.h"

struct generated_paths {
	struct hash_map by_key; /* node and cause -> index in `items` */
	struct generated_path {
		uint32_t node;
		uint8_t cause; /* of the walk if all generated code of the path has names */
		uint64_t samples;
		uint64_t first_ns, last_ns; /* of the samples */
	} * items;
	size_t count, capacity;
};

void generated_paths_init(struct generated_paths *paths);
void generated_paths_release(struct generated_paths *paths);

/* Counts a sample whose path ends at `node`. Returns 0 or ERROR_MEMORY. */
int generated_paths_add(struct generated_paths *paths, uint32_t node, enum unwind_cause cause, uint64_t time_ns);

/* Returns, for each location of the profile in generated code, the middle of the times at which it was sampled; for the others UINT64_MAX. The
 * caller frees it. NULL: memory ran out. */
uint64_t *generated_paths_times(const struct generated_paths *paths, const struct profile *profile);

/* Adds the samples to `causes`, by whether the generated code of their paths has names in the profile, and forgets them. Returns the
 * number of samples whose innermost frame is in generated code without a name. */
uint64_t generated_paths_settle(struct generated_paths *paths, const struct profile *profile,
				uint64_t causes[UNWIND_CAUSE_COUNT]);

#endif
