/*
 * Breaks lines of text that are wider than a terminal, at blanks where there are any, and indents
 * what goes on by four columns more than the line. Sequences "\x1b[...m" take no columns.
 *
 * Life cycle: line_wrap_init, any number of line_wrap_write, line_wrap_end, line_wrap_release.
 */
#ifndef BASE_LINE_WRAP_H
#define BASE_LINE_WRAP_H

#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"

struct line_wrap {
	FILE *to;
	size_t columns;     /* 0: lines are not broken */
	struct buffer line; /* the line so far */
};

void line_wrap_init(struct line_wrap *wrap, FILE *to, size_t columns);
void line_wrap_release(struct line_wrap *wrap);

/* Writes each line that is whole. Returns 0 or ERROR_MEMORY; the stream keeps its own errors. */
int line_wrap_write(struct line_wrap *wrap, const char *bytes, size_t size);
/* Writes the rest, which has no end of line. */
void line_wrap_end(struct line_wrap *wrap);

#endif
