/*
 * The possible probe points of a file, found by a walk over libclang's cursors.
 *
 * Whether the body of a cursor can be edited depends on the text of the file, not on clang's description: the byte
 * at its `{` must be a `{` in the file itself, and not in the expansion of a macro.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_SOURCE_POINTS_H
#define COLLECT_SOURCE_INSTRUMENT_SOURCE_POINTS_H

#include "collect/source/instrument/arena.h"
#include "collect/source/instrument/clang.h"
#include "collect/source/instrument/edits.h"
#include "collect/source/instrument/source_point.h"
#include "collect/source/instrument/words.h"

/* A file that may be edited. */
struct source_points_file {
	CXFile file;
	const char *path;
	const char *text; /* owned by libclang */
	size_t size;
	bool is_main;
	bool has_annotations; /* its text contains "cpprof:" or "CPPROF_" */
	bool has_resolvers;   /* its text contains "ifunc" */
	struct edits edits;
	size_t instrumented; /* number of instrumented probe points */
	uint32_t furthest;   /* in bytes: largest start of a body found so far */
};

/* A probe point, and the form of its insertion. */
struct source_points_item {
	struct source_point point;
	size_t file;          /* in points.files */
	size_t function;      /* in points.items: the function that contains it, or itself */
	const char *variant;  /* infix of the names of a function's macros: "CONSTEXPR_", "ASIDE_"; NULL: none */
	const char *own_name; /* name of a probe point within a function: "loop at 12" */
	const char *also;     /* a second macro behind it, with the number as its argument; NULL: none */
	uint32_t name_line;
	uint32_t start;  /* for a function, in bytes: start of its declaration */
	uint32_t open;   /* ... and of its body, according to libclang */
	bool is_wrapped; /* put into braces, from point.offset to point.end */
	bool is_shared;  /* items[shared] has the same body's text, and gets the edits */
	size_t shared;
	bool returns_twice; /* it calls a function that returns twice, such as setjmp */
	size_t number;      /* its number among the instrumented points of its file */
	const char *hook;   /* in point.hook: the hook's name, `hook_size` bytes */
	size_t hook_size;
	/* With explicit exits (exits.h): */
	const char *value_before,
		*value_behind; /* declaration of the returned value's variable, before and behind its name, or NULL */
	const char *doubt;     /* why there can be no such variable; NULL: there can */
	uint32_t last_return;  /* in bytes: a return that is the last statement of its body; 0: none is */
	bool has_value;        /* it returns a value */
	bool has_nested;       /* it contains GNU C's nested functions, which clang does not support */
};

struct source_points {
	const struct instrument_source *source;
	const struct clang *clang;
	const struct words *words;
	struct instrument_arena *arena;
	CXTranslationUnit unit;
	int level; /* the finest level to search */
	bool needs_linker_names;
	struct source_points_file *files;
	size_t file_count, file_capacity;
	struct source_points_item *items;
	size_t item_count, item_capacity;
	bool is_explicit;                     /* exits are explicit (exits.h) */
	uint32_t loose_label;                 /* in bytes: start of a label that is a whole branch (statements.c) */
	struct source_points_return *returns; /* returns that clang has found */
	size_t return_count, return_capacity;
	int error; /* ERROR_MEMORY */
};

/* The input of a treatment. */
struct source_points_function {
	struct source_points *points;
	struct source_points_item *item;
	CXCursor cursor, body; /* the function; its body's `{`, without a preceding `try` */
	const struct source_points_file *file;
	const char *declaration; /* clang's text of it, with macros expanded and attributes; "" for a lambda */
	uint32_t start; /* in bytes: start of its declaration; includes attributes and `template <...>` if clang does */
	uint32_t open;  /* ... and of its `{` */
};

/* Fills in files and items (visit.c). Returns 0, ERROR_NOT_FOUND if libclang has no main file, or ERROR_MEMORY. */
int source_points_find(struct source_points *points);
void source_points_release(struct source_points *points);

/* Returns the file if it was added, or NULL. */
struct source_points_file *source_points_file(struct source_points *points, CXFile file);

/* Adds a file that may be edited. Returns NULL if clang does not have its text, or if there is no memory
 * (points->error is then ERROR_MEMORY). */
struct source_points_file *source_points_add_file(struct source_points *points, CXFile file, bool is_main);

/* Returns the file of a location and sets *offset, in bytes. For a location in a macro's expansion, these are of
 * the use of the macro. */
CXFile source_points_offset(const struct source_points *points, CXSourceLocation location, uint32_t *offset);

/* Returns a new item, valid until the next one is added, or NULL if there is no memory. */
struct source_points_item *source_points_add(struct source_points *points);
/* Returns the length in bytes of a `{` at an offset, with line splices before it: 1, 2 (`<%`) or 3 (a trigraph)
 * without splices. 0: there is none. */
uint32_t source_points_brace(const struct source_points_file *file, uint32_t offset);
/* Returns whether a word (an identifier) occurs between two offsets, outside of comments and literals. */
bool source_points_has_word(const struct source_points_file *file, uint32_t start, uint32_t end, const char *word);
/* Returns whether a function has an attribute, from any source: "naked". */
bool source_points_has_attribute(const struct source_points_function *function, const char *name);

/* Returns whether a function of that name may return twice, so that a jump
 * leaves the code in between: "setjmp". */
bool source_points_is_returning_twice(const char *name);

/* Decide whether the language permits an object in a function: set item->point.skipped and .warning, and
 * item->variant and ->also. treat_cxx is called after treat_c. */
void treat_c(const struct source_points_function *function);
void treat_cxx(const struct source_points_function *function);
/* Returns whether a file's first words make it a module: an #include must not precede them. */
bool treat_cxx_is_module(const struct source_points_file *file);

#endif
