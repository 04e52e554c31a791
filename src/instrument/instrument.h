/*
 * The source instrumenter: puts an object of the Profiler (cpprof/profiler.h) into the functions of a file.
 *
 *     a compiler's words ---- clang.h: libclang, loaded when it is needed first, parses what the compiler would
 *     the cursors of the file ---- places.h: what could be instrumented, each with what it is and where its `{` is
 *     the places ---- selection.h: what the user wants; treat_c.c, treat_cxx.c: what the language allows
 *     decisions ---- edits.h: an edit list, and the copy that it makes
 *
 * Nothing here runs a compiler or prints: cmd/ does.
 */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What stands at a place; as enum cpprof_kind in cpprof/profiler.h, and in its order. */
enum instrument_kind { INSTRUMENT_FUNCTION, INSTRUMENT_REGION, INSTRUMENT_LOOP, INSTRUMENT_CALL, INSTRUMENT_BLOCK };

enum { INSTRUMENT_LEVEL_FUNCTION = 1, INSTRUMENT_LEVEL_LOOP, INSTRUMENT_LEVEL_CALL, INSTRUMENT_LEVEL_BLOCK };

/* Texts are the owner's (struct instrument_places), in its arena. */
struct instrument_place {
	enum instrument_kind kind;
	int level;
	const char *name;      /* as its declaration has it, qualified: "ns::C<T>::f"; a lambda: "outer::lambda" */
	const char *signature; /* as libclang shows it: "f(int, const char *)" */
	const char *file;      /* as the compiler would show it */
	uint32_t line, column; /* of the `{` */
	uint32_t offset;       /* bytes; right behind the `{` (or `<%`) */
	uint32_t end;          /* bytes; of its `}` */
	uint32_t statements;   /* in its body, nested ones too: what the size filter looks at */
	bool is_inline;        /* declared so, or in a class */
	bool is_always_inline;
	bool is_cxx;
	bool is_header;    /* not in the main file */
	const char *group; /* an annotation's or the selection's; NULL: none */
	const char *hook;  /* CPPROF_HOOK(f, a, b) in the source: "f, a, b"; NULL: none */
	/* The decision. */
	const char *skipped; /* why it is left alone: "constexpr before C++20"; NULL: it is instrumented */
	const char *warning; /* what the user should know of it though; NULL: nothing */
};

#endif
