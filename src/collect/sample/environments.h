/* What processes were given at their start, as /proc shows it. */
#ifndef COLLECT_SAMPLE_ENVIRONMENTS_H
#define COLLECT_SAMPLE_ENVIRONMENTS_H

#include <stdbool.h>

/* Whether a process runs that was given the variable `entry`, "NAME=VALUE". One that may not be looked into does not count, nor
 * one that has ended and was not waited for yet. */
bool environments_have(const char *entry);

#endif
