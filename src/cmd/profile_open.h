/* Loads the profile of a command and prints warnings about its defects. */
#ifndef CMD_PROFILE_OPEN_H
#define CMD_PROFILE_OPEN_H

#include "cmd/command.h"

#define PROFILE_FILE_DEFAULT "cpprof.data"

/* Loads a profile, names its addresses if the recorder did not, and prints a warning about losses. `path` is a file, also another tool's, or the URL of a
 * store's selection; with --store, it is a part of such a URL ("from=-2h&to=-1h"). On failure, prints a message and returns NULL. The
 * caller frees the profile. */
struct profile *profile_open(const struct invocation *invocation, const char *path);

/* The same for a file alone. */
struct profile *profile_open_file(const struct invocation *invocation, const char *path);

/* The same for a command that needs no times and threads of hits: they are added up (reader_load_sums). */
struct profile *profile_open_sums(const struct invocation *invocation, const char *path);

#endif
