/* Adds up profiles, for `cpprof merge` and `cpprof record --until`. */
#ifndef CMD_MERGE_H
#define CMD_MERGE_H

#include <stddef.h>

#include "cmd/command.h"

/* Writes the sum of profiles into `output`. `key`: the label that the hits of each get, with the name of its file; NULL: none. Returns the
 * exit status, after a message. */
int merge_files(const struct invocation *invocation, char *const *paths, size_t count, const char *key,
		const char *output);

#endif
