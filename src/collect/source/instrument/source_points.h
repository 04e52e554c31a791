/*
 * The probe points of a file that something could be inserted at, found by a walk over libclang's cursors.
 *
 * Of each cursor that has a body, what the copy could be made of is not what clang says but what stands there: the byte at its
 * `{` must be one, in the file itself and not in what a macro expands to.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_SOURCE_POINTS_H
#define COLLECT_SOURCE_INSTRUMENT_SOURCE_POINTS_H

#include "collect/source/instrument/arena.h"
#include "collect/source/instrument/clang.h"
#include "collect/source/instrument/edits.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/words.h"

/* A file of which something may be edited. */
struct source_points_file {
	CXFile file;
	const char *path;
	const char *text; /* libclang's */
	size_t size;
	bool is_main;
	bool has_annotations; /* "cpprof" or "CPPROF" stands in it */
	bool has_resolvers;   /* "ifunc" stands in it */
	struct edits edits;
	size_t instrumented; /* probe points */
	uint32_t furthest;   /* in bytes: the beginning of the last body found so far */
	uint32_t *errors;    /* offsets at which clang understood nothing, ascending; owned */
	size_t error_count, error_capacity;
};

/* A probe point, and how something would be inserted there. */
struct source_points_item {
	struct source_point point;
	size_t file;     /* in points.files */
	size_t function; /* in points.items: the one that it is in, or itself */
	const char *
		variant; /* part of the macros' names, which a function's probe points share: "CONSTEXPR_", "ASIDE_"; NULL: none */
	const char *own_name; /* of a probe point within a function: "loop at 12" */
	const char *also;     /* a second macro behind it, whose only argument is the number; NULL: none */
	uint32_t name_line;
	uint32_t start;  /* of a function, in bytes: the beginning of its declaration */
	uint32_t open;   /* ... and of its body, according to libclang */
	bool is_wrapped; /* put into braces, from point.offset to point.end */
	bool is_template;
	bool is_shared; /* its body's text is that of items[shared] as well, which the edits are made for */
	size_t shared;
	bool returns_twice; /* a function that it calls: setjmp */
	size_t number;      /* among those that are instrumented in its file */
	const char *hook;   /* from point.hook, in the arena: the function's name and its length in bytes */
	size_t hook_size;
	/* With explicit exits (exits.h): */
	const char *value_before,
		*value_behind; /* declaration of a variable that keeps the returned value, around its name; NULL: none */
	const char *doubt;     /* why that cannot be; NULL: it can */
	uint32_t last_return;  /* bytes: the last statement of its body; 0: it is none */
	bool has_value;        /* something is returned */
	bool has_nested;       /* functions of GNU C, which clang does not support */
};

struct source_points {
	const struct instrument_source *source;
	const struct clang *clang;
	const struct words *words;
	struct instrument_arena *arena;
	CXTranslationUnit unit;
	int level; /* the finest that is looked for */
	struct source_points_file *files;
	size_t file_count, file_capacity;
	struct source_points_item *items;
	size_t item_count, item_capacity;
	bool is_explicit;     /* exits are explicit (exits.h) */
	uint32_t loose_label; /* in bytes: the beginning of a label that is all of a branch (statements.c) */
	struct source_points_return *returns; /* their positions */
	size_t return_count, return_capacity;
	int error; /* ERROR_MEMORY */
};

/* The input of a treatment. */
struct source_points_function {
	struct source_points *points;
	struct source_points_item *item;
	CXCursor cursor, body; /* in the function; its body's `{`, behind a preceding `try` */
	const struct source_points_file *file;
	const char *declaration; /* as clang prints it, with macros expanded and attributes; "" for a lambda */
	uint32_t
		start; /* in bytes: the beginning of its declaration, with attributes and `template <...>` as far as clang reports them */
	uint32_t open; /* ... and of its `{` */
};

/* visit.c: fills in files and items. Returns 0 or ERROR_MEMORY. */
int source_points_find(struct source_points *points);
void source_points_release(struct source_points *points);

/* Returns the file if it was added, or NULL. */
struct source_points_file *source_points_file(struct source_points *points, CXFile file);

/* Adds a file that may be edited. Returns NULL if its text is not known, or on
 * ERROR_MEMORY, which is then in points->error. */
struct source_points_file *source_points_add_file(struct source_points *points, CXFile file, bool is_main);

/* Returns the offset of a location in the file, or of the use of the macro that
 * contains it. */
CXFile source_points_offset(const struct source_points *points, CXSourceLocation location, uint32_t *offset);

/* A new one; it lies where it does until the next is added. NULL: no memory. */
struct source_points_item *source_points_add(struct source_points *points);
/* 1, 2 (`<%`) or 3 (a trigraph): bytes of a `{` at an offset; 0: there is none. */
uint32_t source_points_brace(const struct source_points_file *file, uint32_t offset);
/* Returns whether a word (an identifier) stands between two offsets, outside of
 * comments and literals. */
bool source_points_has_word(const struct source_points_file *file, uint32_t start, uint32_t end, const char *word);
/* Returns whether a function has an attribute, from any source: "naked". */
bool source_points_has_attribute(const struct source_points_function *function, const char *name);

/* Returns whether a function of that name may return twice, so that a jump
 * leaves the code in between: "setjmp". */
bool source_points_is_returning_twice(const char *name);

/* Decides whether the language permits an object: sets item->point.skipped and
 * .warning, ->macro. One for each language. */
void treat_c(const struct source_points_function *function);
void treat_cxx(const struct source_points_function *function);
/* Returns whether a file's first words make it a module: nothing may be
 * included before these. */
bool treat_cxx_is_module(const struct source_points_file *file);

#endif
