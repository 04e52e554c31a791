/*
 * Words of C and C++ text, outside of comments and literals. Text is whatever a user wrote, or what is left of it: nothing of it
 * is believed, and nothing behind `end` is read.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_LEXING_H
#define COLLECT_SOURCE_INSTRUMENT_LEXING_H

#include <stdbool.h>
#include <stddef.h>

/* A word: an identifier, a keyword or a number. Other bytes that mean something come one by one. */
struct lexing_token {
	const char *start;
	size_t size; /* 0: the text has ended */
	bool is_word;
};

/* The next one from `at` on, comments and literals left out. Its start + size is where to go on. */
struct lexing_token lexing_next(const char *at, const char *end);

bool lexing_is(const struct lexing_token *token, const char *word);

/* Behind a comment or literal that begins at `at`, at most `end`; `at` where none does. Not of raw literals: their first byte
 * is a word's. */
const char *lexing_skip(const char *at, const char *end);

/* Where a word stands first; NULL: it does not. */
const char *lexing_find(const char *start, const char *end, const char *word);
/* Whether an attribute is among those that are written there: "naked" of __attribute__((__naked__)), [[gnu::naked]]. */
bool lexing_has_attribute(const char *start, const char *end, const char *name);

/* Of a block, from behind its `{`: where something may be declared in it, behind what has to be its first: __label__ x;,
 * #pragma STDC ..., _Pragma("STDC ..."). `start` where there is none of these. */
const char *lexing_behind_first(const char *start, const char *end);

#endif
