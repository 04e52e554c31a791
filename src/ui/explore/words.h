/*
 * Splits a line of input into its parts:
 *
 *   COMMAND [ARGUMENTS] [ | SHELL COMMAND]
 *
 * The bar must follow white space (or be the first byte) and must not be doubled, so that `operator|(A, B)` and
 * `operator||` are function names.
 */
#ifndef UI_EXPLORE_WORDS_H
#define UI_EXPLORE_WORDS_H

#include <stddef.h>

#include "base/error.h"

struct line_parts {
	char *command;   /* "" for an empty line or a comment (#...) */
	char *arguments; /* the rest, without white space around it; "" if there is none */
	char *shell;     /* the shell command behind the bar; NULL: no bar */
};

/* Splits the line in place; the parts point into it. */
struct line_parts line_split(char *line);

/* A list of words. White space separates words; quotes ('...' or "...") keep a word together. Life cycle:
 * words_split, words_split_terms or words_unquote, words_release. */
struct words {
	char **items; /* [count], then NULL; owned */
	size_t count;
	size_t capacity;
};

/* Splits arguments. Returns 0, ERROR_USAGE (a quote is not closed) or ERROR_MEMORY. */
int words_split(struct words *words, const char *text, struct error *error);

/* The same for the terms of a what-if: an unquoted term ends behind its "=FACTOR", so that "main;ns::f(int, char)=0
 * g=1" is two terms. */
int words_split_terms(struct words *words, const char *text, struct error *error);

/* Takes the whole text as one word, without the quotes around it. Returns 0 or ERROR_MEMORY. */
int words_unquote(struct words *words, const char *text, struct error *error);

/* Returns the offset of the last function name in unfinished what-if terms. */
size_t words_last_name(const char *terms);

void words_release(struct words *words);

#endif
