/* A profile with only the hits of a selection: for functions that read a whole
 * profile. */
#ifndef UI_EXPLORE_NARROW_H
#define UI_EXPLORE_NARROW_H

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

/* Fills in `narrow` with the tables of `profile` and those of its hits that a
 * view of `options` would count (resource PROFILE_NONE: of all
 * resources), without their labels. Only the hits are its own: narrow_release,
 * never profile_free, and nothing may be added to it. Returns 0 or
 * ERROR_MEMORY. */
int narrow_init(struct profile *narrow, const struct profile *profile, const struct view_options *options,
		struct error *error);
void narrow_release(struct profile *narrow);

#endif
