/* How much was recorded of each resource, in one pass over the hits. */
#ifndef UI_EXPLORE_TOTALS_H
#define UI_EXPLORE_TOTALS_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* [resource_count]: samples, or gticks of an exact resource; free() it.
 * NULL: ERROR_MEMORY. */
uint64_t *totals_new(const struct profile *profile, struct error *error);

/* "2676 samples", "12 calls". */
void totals_print(FILE *out, const struct profile *profile, uint32_t resource, uint64_t total);

#endif
