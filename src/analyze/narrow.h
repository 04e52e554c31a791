/* A profile with only the hits of a selection, for functions that read a whole profile. */
#ifndef ANALYZE_NARROW_H
#define ANALYZE_NARROW_H

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

/* Makes `narrow` a profile with the tables of `profile` and the hits that a view with `options` would count, without
 * their labels and before the transforms of `options` (resource PROFILE_NONE: of all resources). `narrow` owns only its hits: release it with
 * narrow_release, never with profile_free, and add nothing to it. Returns 0 or ERROR_MEMORY. */
int narrow_init(struct profile *narrow, const struct profile *profile, const struct view_options *options,
		struct error *error);
void narrow_release(struct profile *narrow);

#endif
