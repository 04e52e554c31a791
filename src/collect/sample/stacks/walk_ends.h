/* Counts how the walks of the samples ended, by causes (unwind/cause.h). */
#ifndef COLLECT_SAMPLE_STACKS_WALK_ENDS_H
#define COLLECT_SAMPLE_STACKS_WALK_ENDS_H

#include <stdbool.h>

#include "collect/sample/stacks/generated_paths.h"

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

/* Counts the walks through generated code by the names that the code has now; before that, they are not published. Returns the number of
 * samples whose innermost frame is in generated code without a name. */
uint64_t walk_ends_settle(struct walk_ends *ends, const struct profile *profile);

/* Adds the counts since the last call to the profile's causes. Returns 0 or ERROR_MEMORY. */
int walk_ends_publish(struct walk_ends *ends, struct profile *profile);

#endif
