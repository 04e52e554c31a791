/* Loads the profile of a command and prints warnings about its defects. */
#ifndef CMD_PROFILE_OPEN_H
#define CMD_PROFILE_OPEN_H

#include "cmd/command.h"

#define PROFILE_FILE_DEFAULT "cpprof.data"

/* Loads a profile, names its addresses if the recorder did not, and prints a warning about losses. On failure,
 * prints a message and returns NULL. The caller frees the profile. */
struct profile *profile_open(const struct invocation *invocation, const char *path);

#endif
