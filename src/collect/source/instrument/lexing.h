/* Words of C and C++ text, outside of comments and literals. The text may be incomplete or not valid at all: every
 * function checks it, and never reads behind `end`. */
#ifndef COLLECT_SOURCE_INSTRUMENT_LEXING_H
#define COLLECT_SOURCE_INSTRUMENT_LEXING_H

#include <stdbool.h>
#include <stddef.h>

/* A word: an identifier, a keyword or a number. Other significant bytes are
 * returned one by one. */
struct lexing_token {
	const char *start;
	size_t size; /* 0: the text has ended */
	bool is_word;
};

/* Returns the next token from `at` on, without comments and literals. Continue at its start + size. */
struct lexing_token lexing_next(const char *at, const char *end);

bool lexing_is(const struct lexing_token *token, const char *word);

/* Returns the position behind a comment or literal that begins at `at`, at most `end`, or `at` if none begins there.
 * Raw literals are not skipped: their first byte begins a word. */
const char *lexing_skip(const char *at, const char *end);

/* Returns the first position of a word, or NULL if it does not occur. */
const char *lexing_find(const char *start, const char *end, const char *word);
/* Returns whether the text has an attribute: "naked" as
 * __attribute__((__naked__)) or [[gnu::naked]]. */
bool lexing_has_attribute(const char *start, const char *end, const char *name);

/* Returns the first position in a block, from behind its `{`, at which a
 * declaration is allowed: behind __label__ x;, #pragma STDC ..., _Pragma("STDC
 * ..."). Returns `start` if there is none of these. */
const char *lexing_behind_first(const char *start, const char *end);

#endif
