/*
 * One line of input, taken apart. A line is
 *
 *   COMMAND [ARGUMENTS] [ | SHELL COMMAND]
 *
 * The bar must have white space (or nothing) before it and must not be doubled, so that
 * `operator|(A, B)` and `operator||` stay function names.
 */
#ifndef UI_EXPLORE_WORDS_H
#define UI_EXPLORE_WORDS_H

#include <stddef.h>

#include "base/error.h"

struct line_parts {
	char *command;   /* "" for an empty line or a comment (#...) */
	char *arguments; /* the rest, without white space around it; "" if none */
	char *shell;     /* behind the bar; NULL: no bar */
};

/* Cuts the line up in place; the parts point into it. */
struct line_parts line_split(char *line);

/* Arguments as separate words: white space separates, quotes ('...' or "...")
 * hold together. Life cycle: one of the two calls, words_release. */
struct words {
	char **items; /* [count], then NULL; owned */
	size_t count;
	size_t capacity;
};

/* Returns 0, ERROR_USAGE (a quote is not closed) or ERROR_MEMORY. */
int words_split(struct words *words, const char *text, struct error *error);

/* The same for the terms of a what-if: an unquoted term ends behind its
 * "=FACTOR", so that "main;ns::f(int, char)=0 g=1" is two terms. */
int words_split_terms(struct words *words, const char *text, struct error *error);

/* Where in unfinished what-if terms the last function name begins. */
size_t words_last_name(const char *terms);

void words_release(struct words *words);

#endif
