/* Adds up profiles, for `cpprof merge`, `cpprof record --until` and `cpprof report --ranks`. */
#ifndef CMD_MERGE_H
#define CMD_MERGE_H

#include <stddef.h>

#include "cmd/command.h"

/* Writes the sum of profiles into `output`. `key`: the label that the hits of each get, with the name of its file; NULL: none. Returns the
 * exit status, after a message. */
int merge_files(const struct invocation *invocation, char *const *paths, size_t count, const char *key,
		const char *output);

/* Replaces the invocation's profile by the sum of it and of those that the arguments name, in which each hit has the label PROFILE_LABEL_RANK:
 * that of its profile or, if none has it, the place of its file, from 0. Returns EXIT_DONE, or another status after a message. */
int merge_ranks(struct invocation *invocation);

#endif
