/* What a profile says of the run that it is of: as notes, whoever measured. */
#ifndef COLLECT_SAMPLE_DESCRIPTION_H
#define COLLECT_SAMPLE_DESCRIPTION_H

#include "profile/profile.h"

/* "command" (as given), "host", "kernel", "cpus", "directory" and "cpprof". 0, or ERROR_MEMORY or ERROR_LIMIT. */
int description_add(struct profile *profile, const char *command_line);

#endif
