/* Words for the completion that come out of a profile: the names of its functions and resources. */
#ifndef CMD_COMPLETION_PROFILE_H
#define CMD_COMPLETION_PROFILE_H

#include "cmd/command.h"

/* "functions", "resources"; NULL past the last. */
const char *completion_profile_word(size_t index);

/* Returns the list of words from which the value of an option comes, by the value's name in help; NULL: none. */
const char *completion_profile_of(const char *value);

/* Prints the list with that name, one word a line, of a profile. Returns the exit status. */
int completion_profile_print(const struct invocation *invocation, const char *name, const char *path);

#endif
