/* Makes the options for libclang, with which it parses the code that the compiler would compile: the compiler's own
 * options, without those that are irrelevant for a parser, and the compiler's header folders. */
#ifndef COLLECT_SOURCE_INSTRUMENT_WORDS_H
#define COLLECT_SOURCE_INSTRUMENT_WORDS_H

#include "collect/source/instrument/arena.h"
#include "collect/source/instrument/clang.h"
#include "collect/source/instrument/instrument.h"

struct words {
	const char **items; /* in the arena */
	size_t count, capacity;
	bool is_cxx;
	bool is_plain; /* the compiler does not support GNU C */
	bool is_clang; /* the compiler is clang: it takes the same branches of #if */
	int standard;  /* C++: 11, 14, 17, 20, 23, 26; 0: C, or older */
};

/* Makes the options. Returns 0, ERROR_UNSUPPORTED (not C or C++, or modules), ERROR_MEMORY, or the error of
 * compiler_ask. */
int words_make(struct words *words, const struct instrument_source *source, const struct clang *clang,
	       struct instrument_arena *arena, struct error *error);

#endif
