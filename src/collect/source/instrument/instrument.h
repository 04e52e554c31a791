/*
 * The source instrumenter: puts an object of the Profiler (cpprof/profiler.h) into the functions of a file.
 *
 *     a compiler's words ---- clang.h: libclang, loaded when it is needed first, parses what the compiler would
 *     the cursors of the file ---- source_points.h: what could be instrumented, each with what it is and where its `{` is
 *     the probe points ---- selection.h: what the user wants; treat_c.c, treat_cxx.c: what the language allows
 *     decisions ---- edits.h: an edit list, and the copy that it makes
 *
 * Nothing here compiles or prints: cmd/ does. (A compiler is asked once where it looks for headers.)
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_INSTRUMENT_H
#define COLLECT_SOURCE_INSTRUMENT_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/probe_kinds.h"
#include "base/error.h"

/* The reason for skipping a function in which libclang found an error. */
#define INSTRUMENT_DOUBT "clang does not understand all of it"

/* Texts are the owner's (struct instrument_result), in its arena. */
struct source_point {
	enum probe_kind kind;
	int level;
	const char *name;      /* as in its declaration, qualified: "ns::C<T>::f"; a lambda: "outer::lambda" */
	const char *signature; /* as libclang prints it: "f(int, const char *)" */
	const char *file;      /* as the compiler would print it */
	uint32_t line, column; /* line of the `{` */
	uint32_t end_line;     /* line of a function's `}` */
	uint32_t offset;       /* bytes; right behind the `{` (or `<%`) */
	uint32_t end;          /* in bytes; offset of its `}` */
	uint32_t statements;   /* statements in its body, also nested ones: for the size filter */
	bool is_inline;        /* declared so, or in a class */
	bool is_always_inline;
	bool is_cxx;
	bool is_header;    /* not in the main file */
	const char *group; /* an annotation's or the selection's; NULL: none */
	const char *hook;  /* CPPROF_HOOK(f, a, b) in the source: "f, a, b"; NULL: none */
	/* The decision. */
	const char *skipped; /* why it is left alone: "constexpr before C++20"; NULL: it is instrumented */
	const char *warning; /* a warning about an instrumented one; NULL: none */
};

struct selection;

/* The input of the instrumenter; the caller owns all of it. */
struct instrument_source {
	const char *path;         /* as for the compiler; relative ones begin at `directory` */
	const char *directory;    /* NULL: the present one */
	const char *compiler;     /* "gcc", "/usr/bin/clang++-14": its header folders are used; NULL: "cc" or "c++" */
	const char *const *words; /* the compiler's options, the input files, -c and -o among them or not */
	size_t word_count;
	const char *profiler;              /* "/usr/include/cpprof/profiler.h": the first line of a copy includes it */
	const char *shown;                 /* how `#line` names the main file; NULL: `path` */
	const struct selection *selection; /* NULL: selection_new()'s defaults */
	bool is_bare;                      /* the main copy does not begin with `#include profiler` and #line */
	bool is_explicit;                  /* in C, each exit has a statement: for compilers without cleanup */
	bool headers;                      /* the user's headers are edited too; those of the system never */
};

/* A file with insertions; the main file comes first, and is always there. */
struct instrument_copy {
	const char *path; /* path of the original, as the compiler would open it */
	const char *text; /* `size` bytes and a NUL */
	size_t size;
	size_t point_count; /* that are instrumented in it; 0: the text is the original's */
	bool is_main;
};

/* The result; all texts live until instrument_release. */
struct instrument_result {
	struct instrument_copy *copies;
	size_t copy_count;
	struct source_point *points; /* by file, and in the order of their `{` */
	size_t point_count;
	bool is_plain;        /* the compiler has no GNU C: exits have statements in any case */
	const char *libclang; /* "clang version 14.0.6", as it calls itself */
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
