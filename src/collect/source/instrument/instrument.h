/*
 * The source instrumenter: inserts objects of the Profiler (cpprof/profiler.h) into the functions of a file.
 *
 *     a compiler's words ---- clang.h: libclang, loaded at its first use, parses the code that the compiler would
 *     the cursors of the file ---- source_points.h: possible probe points, their kinds and the positions of their `{`
 *     the probe points ---- selection.h: the user's selection; treat_c.c, treat_cxx.c: the restrictions of the language
 *     decisions ---- edits.h: an edit list, and the copy that results
 *
 * This folder neither compiles nor prints: cmd/ does. (It runs a compiler once to find its header folders.)
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_INSTRUMENT_H
#define COLLECT_SOURCE_INSTRUMENT_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/source/instrument/source_point.h"

/* A file with insertions. The main file is the first one, and always exists. */
struct instrument_copy {
	const char *path; /* path of the original, as the compiler would open it */
	const char *text; /* `size` bytes and a NUL */
	size_t size;
	size_t point_count; /* instrumented probe points; 0: the text is the original's */
	bool is_main;
};

/* The result; all texts are valid until instrument_release. */
struct instrument_result {
	struct instrument_copy *copies;
	size_t copy_count;
	struct source_point *points; /* in the order in which they were found */
	size_t point_count;
	bool is_plain;        /* the compiler has no GNU C: exits have statements anyway */
	const char *libclang; /* its own name and version: "clang version 14.0.6" */
	struct instrument_arena *arena;
};

/* Parses a file as its compiler would and makes the copy. Returns 0, or an
 * error if the copy might have another meaning; the original must then be
 * compiled: ERROR_FORMAT (it does not parse; the error names the line),
 * ERROR_UNSUPPORTED (no libclang, or another language), ERROR_NOT_FOUND,
 * ERROR_MEMORY. The caller releases *result in any case. */
int instrument_file(const struct instrument_source *source, struct instrument_result *result, struct error *error);
void instrument_release(struct instrument_result *result);

#endif
