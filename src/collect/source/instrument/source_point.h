/* The input of the instrumenter, and a probe point that it finds: for its parts and its callers. */
#ifndef COLLECT_SOURCE_INSTRUMENT_SOURCE_POINT_H
#define COLLECT_SOURCE_INSTRUMENT_SOURCE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/probe_kinds.h"

/* The reason for skipping a function in which libclang found an error. */
#define INSTRUMENT_DOUBT "clang does not understand all of it"

/* A probe point. Its owner (struct instrument_result) has the texts in its arena. */
struct source_point {
	enum probe_kind kind;
	int level;
	const char *name;       /* qualified name of the declaration: "ns::C<T>::f"; a lambda: "outer::lambda" */
	const char *signature;  /* in libclang's form: "f(int, const char *)" */
	const char *results[2]; /* the returned type as written and without typedefs: "const T *"; NULL: none, as for a
				   constructor */
	const char *const *linker_names; /* of C++, where the selection needs them: "_Z1fi", NULL; NULL: none */
	const char *file;                /* in the compiler's form */
	uint32_t line, column;           /* line of the `{` */
	uint32_t end_line;               /* line of a function's `}` */
	uint32_t offset;                 /* in bytes; directly behind the `{` (or `<%`) */
	uint32_t end;                    /* in bytes; directly behind its `}` or `;` */
	uint32_t statements;             /* statements in its body, including nested statements: for the size filter */
	bool is_inline;                  /* declared inline, or defined in a class */
	bool is_always_inline;
	bool is_cxx;
	bool is_header;    /* not in the main file */
	const char *group; /* from an annotation or the selection; NULL: none */
	const char *hook;  /* CPPROF_HOOK(f, a, b) in the source: "f, a, b"; NULL: none */
	/* The decision. */
	const char *skipped; /* why it is not instrumented: "constexpr before C++20"; NULL: it is */
	const char *warning; /* a warning about an instrumented point; NULL: none */
	const char *mistake; /* an error in its annotations, which have no effect from there on; NULL: none */
};

struct selection;

/* The input of the instrumenter; the caller owns all texts. */
struct instrument_source {
	const char *path;         /* as for the compiler; a relative one begins at `directory` */
	const char *directory;    /* NULL: the current one */
	const char *compiler;     /* "gcc", "/usr/bin/clang++-14": its header folders are used; NULL: "cc" or "c++" */
	const char *const *words; /* the compiler's options, with or without the input files, -c and -o */
	size_t word_count;
	const char *profiler;              /* "/usr/include/cpprof/profiler.h": the first line of a copy includes it */
	const char *shown;                 /* name of the main file in `#line`; NULL: `path` */
	const struct selection *selection; /* NULL: selection_new()'s defaults */
	bool is_bare;                      /* the main copy does not begin with `#include profiler` and #line */
	bool is_explicit;                  /* in C, insert a statement at each exit: for compilers without cleanup */
	bool headers;                      /* also edit the user's headers; headers of the system are never edited */
};

#endif
