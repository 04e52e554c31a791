/* Words for the completion that come out of a profile: the names of its functions, resources, threads and processes. */
#ifndef CMD_COMPLETION_PROFILE_H
#define CMD_COMPLETION_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/command.h"

typedef void completion_offer(void *context, const char *word, const char *help);

/* Offers the words of a profile that the value of an option can be, by the value's name in help; none for other values. Returns the exit
 * status. */
int completion_profile_each(const struct invocation *invocation, const char *value, const char *path,
			    completion_offer *offer, void *context);

/* Returns whether a shell takes the word as it is. Other words are not offered. */
bool completion_is_plain(const char *text, size_t size);

#endif
