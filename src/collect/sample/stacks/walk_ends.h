/* Counts how the walks of the samples ended, by causes (unwind/cause.h). */
#ifndef COLLECT_SAMPLE_STACKS_WALK_ENDS_H
#define COLLECT_SAMPLE_STACKS_WALK_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "profile/profile.h"
#include "unwind/cause.h"

/*
 * The samples whose walks went through generated code by frame pointers. Whether such a path is
 * whole is known only when its code has names, which runtimes list late: a frame of code that no
 * runtime describes may have hidden another one. So the samples are counted by the node of their
 * path, until the names are known.
 */

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

/* Returns, for each location of the profile in generated code, the middle of the times at which
 * it was sampled; for the others UINT64_MAX. The caller frees it. NULL: memory ran out. */
uint64_t *generated_paths_times(const struct generated_paths *paths, const struct profile *profile);

/* Adds the samples to `causes`, by whether the generated code of their paths has names in the
 * profile, and forgets them. Returns the number of samples whose innermost frame is in generated
 * code without a name. */
uint64_t generated_paths_resolve(struct generated_paths *paths, const struct profile *profile,
				 uint64_t causes[UNWIND_CAUSE_COUNT]);

/* --- all walks --- */

struct walk_ends {
	uint64_t causes[UNWIND_CAUSE_COUNT]; /* since the last walk_ends_publish */
	struct generated_paths generated;    /* walks through generated code, until they are settled */
};

void walk_ends_init(struct walk_ends *ends);
void walk_ends_release(struct walk_ends *ends);

/* A walk of which the path ends at a node. `is_generated`: it went through generated code. */
struct walk_end_place {
	uint32_t node;
	uint64_t time_ns;
	bool is_generated;
};

/* Counts a walk. Returns 0 or ERROR_MEMORY. */
int walk_ends_add(struct walk_ends *ends, enum unwind_cause cause, const struct walk_end_place *place);

/* Counts the walks through generated code by the names that the code has now; before that, they
 * are not published. Returns the number of samples whose innermost frame is in generated code
 * without a name. */
uint64_t walk_ends_resolve(struct walk_ends *ends, const struct profile *profile);

/* Adds the counts since the last call to the profile's causes. Returns 0 or ERROR_MEMORY. */
int walk_ends_publish(struct walk_ends *ends, struct profile *profile);

#endif
