/* Describes a run in the notes of its profile, in the same way for every backend. */
#ifndef COLLECT_SAMPLE_DESCRIPTION_H
#define COLLECT_SAMPLE_DESCRIPTION_H

#include "profile/profile.h"

/* Adds the notes "command" (as given), "host", "kernel", "cpus", "directory" and "cpprof". Returns 0,
 * ERROR_MEMORY or ERROR_LIMIT. */
int description_add(struct profile *profile, const char *command_line);

#endif
