/* What a compiler says of itself: where it looks for headers, and the standard that it follows when nobody names one. */
#ifndef COLLECT_SOURCE_INSTRUMENT_COMPILER_H
#define COLLECT_SOURCE_INSTRUMENT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { COMPILER_DIRECTORIES = 64 };

struct compiler {
	char *key;                               /* all that it was asked with */
	char *directories[COMPILER_DIRECTORIES]; /* in its order */
	size_t directory_count;
	long c_standard;   /* __STDC_VERSION__: 201710; 0: C90 */
	long cxx_standard; /* __cplusplus: 201703; 0: it compiles C */
	bool is_clang;     /* __clang__ */
	bool is_plain;     /* it does not say __GNUC__: it need not know GNU C's attributes, and often it does not */
	long tiny_c;       /* __TINYC__; 0: it is another */
	struct compiler *next;
};

/*
 * Runs `command words... -x language -E -v -dM /dev/null`, once in a process: what it said is kept. NULL: ERROR_NOT_FOUND,
 * ERROR_SYSTEM, ERROR_MEMORY; ERROR_FORMAT: it is no compiler like gcc or clang. Lives as long as the process.
 */
const struct compiler *compiler_ask(const char *command, const char *const *words, size_t count, bool is_cxx,
				    struct error *error);

#endif
