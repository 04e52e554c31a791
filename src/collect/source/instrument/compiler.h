/* Queries a compiler for its header folders and its default language standard. */
#ifndef COLLECT_SOURCE_INSTRUMENT_COMPILER_H
#define COLLECT_SOURCE_INSTRUMENT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

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
const struct compiler *compiler_ask(const char *command, const char *const *words, size_t count, bool is_cxx,
				    struct error *error);

#endif
