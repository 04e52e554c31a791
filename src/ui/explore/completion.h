/* Finds completion candidates for the cursor's position in a line, in the command table and the profile. */
#ifndef UI_EXPLORE_COMPLETION_H
#define UI_EXPLORE_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/explore/session.h"

enum { COMPLETION_MAX = 500 };

struct completion {
	size_t start;  /* offset in the line of the text that a candidate replaces */
	char **items;  /* [count], sorted, distinct; owned */
	size_t count;  /* at most COMPLETION_MAX */
	size_t common; /* length of the common beginning of all items */
	bool space;    /* a single candidate is followed by a space */
};

/* Finds the candidates for the line's first `length` bytes. If no function name begins with the typed text,
 * candidates are the names that contain it after a "::". If memory is exhausted, some candidates are missing. */
void completion_init(struct completion *completion, struct session *session, const char *line, size_t length);
void completion_release(struct completion *completion);

#endif
