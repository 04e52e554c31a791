/* One transform of the paths of a profile. Private to transform.c. */
#ifndef ANALYZE_TRANSFORM_PATHS_H
#define ANALYZE_TRANSFORM_PATHS_H

#include "analyze/transform.h"

/* Makes `copy` a profile with the tables of `profile`, but with its own nodes, locations, hits and touches, which alone
 * transform_paths_release frees. Returns 0 or ERROR_MEMORY; the caller releases the copy in any case. */
int transform_paths_begin(struct profile *copy, const struct profile *profile, struct error *error);
void transform_paths_release(struct profile *copy); /* accepts {0} */

/* Applies a transform to such a copy: moves its hits and touches to other nodes, which are added, and removes those that the
 * transform leaves out. `frames` chooses how frames are shown. Returns 0 or an error as transformed_get, after which the copy can only be
 * released. */
int transform_paths(struct profile *copy, const struct transform *transform, const struct view_options *frames,
		    struct error *error);

#endif
