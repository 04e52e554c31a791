/* Loads the profile that a command works on, and tells what is wrong with it. */
#ifndef CMD_PROFILE_OPEN_H
#define CMD_PROFILE_OPEN_H

#include "cmd/command.h"

#define PROFILE_FILE_DEFAULT "cpprof.data"

/* Loads, names addresses if the recorder did not come to it, and warns of
 * losses. Returns NULL after saying why; the caller frees the profile. */
struct profile *profile_open(const struct invocation *invocation, const char *path);

#endif
