/* A compiler's own description: its header folders, and its default language
 * standard. */
#ifndef COLLECT_SOURCE_INSTRUMENT_COMPILER_H
#define COLLECT_SOURCE_INSTRUMENT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { COMPILER_DIRECTORIES = 64 };

struct compiler {
	char *key;                               /* all words of the request */
	char *directories[COMPILER_DIRECTORIES]; /* in the compiler's order */
	size_t directory_count;
	long c_standard;   /* __STDC_VERSION__: 201710; 0: C90 */
	long cxx_standard; /* __cplusplus: 201703; 0: it compiles C */
	bool is_clang;     /* __clang__ */
	bool is_plain;     /* it does not define __GNUC__, so GNU C's attributes may be missing */
	long tiny_c;       /* __TINYC__; 0: it is not tcc */
	struct compiler *next;
};

/* Runs `command words... -x language -E -v -dM /dev/null`, once per process,
 * and keeps the answer for the life of the process. Returns NULL on
 * ERROR_NOT_FOUND, ERROR_SYSTEM, ERROR_MEMORY, or ERROR_FORMAT if it is not a
 * compiler like gcc or clang. */
const struct compiler *compiler_ask(const char *command, const char *const *words, size_t count, bool is_cxx,
				    struct error *error);

#endif
