/* Makes the options for libclang, with which it parses the code that the compiler would compile: the compiler's own
 * options, without those that are irrelevant for a parser, and the compiler's header folders. */
#ifndef COLLECT_SOURCE_INSTRUMENT_WORDS_H
#define COLLECT_SOURCE_INSTRUMENT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "collect/source/instrument/arena.h"
#include "collect/source/instrument/clang.h"
#include "collect/source/instrument/source_point.h"

/* --- compiler.c: queries a compiler for its header folders and its default language standard --- */

enum { COMPILER_DIRECTORIES = 64 };

struct compiler {
	char *key;                               /* all words of the query */
	char *directories[COMPILER_DIRECTORIES]; /* in the compiler's search order */
	size_t directory_count;
	long c_standard;   /* __STDC_VERSION__: 201710; 0: C90 */
	long cxx_standard; /* __cplusplus: 201703; 0: queried for C */
	bool is_clang;     /* __clang__ */
	bool is_plain;     /* does not define __GNUC__, so it may not support GNU C's attributes */
	long tiny_c;       /* __TINYC__; 0: another compiler */
	struct compiler *next;
};

/* Runs `command words... -x language -E -v -dM /dev/null`, once per process for the same words. The result is
 * valid until the process ends. Returns NULL on ERROR_SYSTEM, ERROR_NOT_FOUND, ERROR_MEMORY, or ERROR_FORMAT if
 * the command does not behave like gcc, clang or tcc. */
const struct compiler *compiler_query(const char *command, const char *const *words, size_t count, bool is_cxx,
				      struct error *error);

/* --- the options --- */

struct words {
	const char **items; /* in the arena */
	size_t count, capacity;
	bool is_cxx;
	bool is_plain; /* the compiler does not support GNU C */
	bool is_clang; /* the compiler is clang: it takes the same branches of #if */
	int standard;  /* C++: 11, 14, 17, 20, 23, 26; 0: C, or older */
};

/* Makes the options. Returns 0, ERROR_UNSUPPORTED (not C or C++, or modules), ERROR_MEMORY, or the error of
 * compiler_query. */
int words_make(struct words *words, const struct instrument_source *source, const struct clang *clang,
	       struct instrument_arena *arena, struct error *error);

#endif
