/* The environments with which processes were started, as /proc shows them. */
#ifndef COLLECT_SAMPLE_ENVIRONMENTS_H
#define COLLECT_SAMPLE_ENVIRONMENTS_H

#include <stdbool.h>

/* Returns whether a running process was started with the variable `entry`, "NAME=VALUE". Processes that
 * may not be read do not count, and neither do those that have ended but were not waited for yet. */
bool environments_have(const char *entry);

#endif
