/* The contexts whose hits differ between the recordings of two builds. */
#ifndef CMD_OPTIMIZE_CONTEXTS_H
#define CMD_OPTIMIZE_CONTEXTS_H

#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* Prints the contexts of which the second profile has fewer hits than the first, by more than chance explains, the
 * largest difference first. Both have the same number of runs. Returns 0 or a negative error. */
int optimize_print_contexts(FILE *out, const struct profile *before, const struct profile *after, struct error *error);

#endif
