/*
 * The name of a frame that stands for one of several functions, because their tail calls left no frame on the stack:
 * "[tail calls: a, b or 3 others]".
 */
#ifndef FRAMES_TAIL_CHOICE_H
#define FRAMES_TAIL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum { TAIL_CHOICE_NAMES = 3 };

struct tail_choice {
	const char *names[TAIL_CHOICE_NAMES]; /* not owned */
	size_t count;
	uint64_t more;      /* functions without a name here */
	const char *others; /* "none", "unknown", or NULL */
};

/* Sorts names and removes equal names. Returns how many are left. */
size_t tail_choice_unify(const char **names, size_t count);

/* Appends the name, with a NUL, for these names and `more` others. */
void tail_choice_write(struct buffer *text, const char *const *names, size_t count, uint64_t more, const char *others);

/* Reads such a name and cuts it into its parts, to which `choice` then points. Returns false if it is another name, or the functions' names leave
 * open where they end. */
bool tail_choice_read(struct tail_choice *choice, char *text);

#endif
