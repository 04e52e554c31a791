/*
 * Companions of a resource whose amounts were corrected: exact resources with the same unit and paths, which have its
 * name with an ending.
 *
 *   real         the corrected times
 *   real-raw     the same as they were measured
 *   real-error   how far the corrected times may be from the truth, at most; errors of several paths add up
 */
#ifndef PROFILE_COMPANION_H
#define PROFILE_COMPANION_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

enum companion { COMPANION_RAW, COMPANION_ERROR };

/* Returns the ending of the companions' names: "-raw". */
const char *companion_ending(enum companion companion);

/* Returns the companion of a resource, or PROFILE_NONE if it has none. */
uint32_t companion_of(const struct profile *profile, uint32_t resource, enum companion companion);

/* Returns whether the resource is a companion of another one. Reports show it only by its name. */
bool companion_is(const struct profile *profile, uint32_t resource);

#endif
