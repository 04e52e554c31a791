/* Candidates for the cursor's position in a line: from the command table and
 * the profile. */
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
	size_t common; /* bytes at the start that all the items share */
	bool space;    /* a single candidate is followed by a space */
};

/* Candidates for the line's first `length` bytes. Function names that contain
 * what was typed after a "::" come in if none begins with it. Without memory
 * there are fewer of them. */
void completion_init(struct completion *completion, struct session *session, const char *line, size_t length);
void completion_release(struct completion *completion);

#endif
