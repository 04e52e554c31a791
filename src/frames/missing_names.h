/* The findings that hot modules lack names. */
#ifndef FRAMES_MISSING_NAMES_H
#define FRAMES_MISSING_NAMES_H

#include "profile/leaf_hits.h"
#include "profile/profile.h"

/* Adds, for each hot module whose functions have no names, a finding with its share and the remedy: the package with its debug symbols, a
 * debuginfod server, or how to compile it. Call it after the addresses were named, on the machine where they were recorded. Returns 0 or a
 * negative error. */
int missing_names_add(struct profile *profile, const struct leaf_hits *leaf_hits);

/* The same for the hits that the profile has. */
int missing_names_add_all(struct profile *profile);

#endif
