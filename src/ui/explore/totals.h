/* Adds up the amount that was recorded of each resource, in one pass over the hits. */
#ifndef UI_EXPLORE_TOTALS_H
#define UI_EXPLORE_TOTALS_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* Returns [resource_count] totals: samples, or gticks of an exact resource. The caller frees the array. Returns
 * NULL: ERROR_MEMORY. */
uint64_t *totals_new(const struct profile *profile, struct error *error);

/* Prints "2676 samples" or "12 calls". */
void totals_print(FILE *out, const struct profile *profile, uint32_t resource, uint64_t total);

#endif
