/* Interfaces of the files to which visit.c passes the cursors of a file, and of taken_addresses.c. */
#ifndef COLLECT_SOURCE_INSTRUMENT_PARTS_H
#define COLLECT_SOURCE_INSTRUMENT_PARTS_H

#include "base/buffer.h"
#include "collect/source/instrument/source_points.h"

/*
 * annotations.c: the source's own settings for a function, in a comment before it or by the macros of
 * cpprof/profiler.h:
 *
 *     // cpprof: group(io) level(2)                  CPPROF_GROUP("io") CPPROF_LEVEL(2)
 *     // cpprof: hook(count_bytes, file, size)       CPPROF_HOOK(count_bytes, file, size)
 *     // cpprof: off                                 CPPROF_OFF
 */

struct annotation {
	const char *group, *hook; /* in the arena; NULL: not annotated */
	int level;                /* 1 to 4; 0: not annotated */
	bool is_off;
	const char *wrong; /* in the arena: a sentence about the first error; NULL: there is none */
};

/* Adds the content of a comment or an attribute to *annotation. Returns false
 * if no line of it begins with "cpprof:". */
bool annotation_parse(struct annotation *annotation, const char *text, size_t size, struct instrument_arena *arena);

/* Adds the content of the comments directly before `start`, separated only by
 * blanks, or between `start` and `open`. */
void annotation_find(struct annotation *annotation, const char *text, size_t start, size_t open,
		     struct instrument_arena *arena);

/* Sets the probe point's group, level, hook and mistake from its annotations, and marks it as skipped if they
 * request it. */
void annotations_take(const struct source_points_function *function);

/* bodies.c: finds the body of a function, and recognizes a body that was found before. */

/* Finds the function's { ... }; for a function-try-block, the block of the try. Returns false if there is none. */
bool bodies_find(const struct clang *clang, CXCursor function, CXCursor *body);

/* Returns whether the function is already one of point->items. libclang visits a class once as such, and again in
 * each variable that is declared with it (struct { ... } a, b;), and templates also in their instances. Two
 * functions with one text, from a macro or from a file that is included twice, count as two: then *shared is set
 * to the index of the first one's item, and is left unchanged otherwise. */
bool bodies_has_item(const struct source_points_function *function, size_t *shared);

/* branches.c: branches of `#if` that test the compiler. gcc may compile other branches than
 * clang, which parses the file: code in those is not instrumented, and the report lists them. */

/* Adds a skipped probe point for each branch of the main file that clang does not compile, that tests the compiler
 * and that contains a `{`. */
void branches_take(struct source_points *points);

/*
 * statements.c: probe points within a function: loops, statements with calls, basic blocks. A loop
 * or a statement is put into braces with its object; a block is counted by a separate statement at
 * its beginning:
 *
 *     for (...) f();      {LOOP for (...) {BLOCK {CALL f();}}}
 *
 * A probe point is not instrumented if a jump leads into its braces, or if a macro contains its text.
 */

/* Adds the probe points of one cursor in the function with the number `function` (in points->items), if it is one of
 * these. */
void statements_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent);

/*
 * taken_addresses.c: functions with taken addresses: passed on, stored or compared. `cpprof report --lexical`
 * shows them under the function that took them. The result is not an edit: it is appended to the
 * copy, and becomes a section of the object file that no program loads, with NUL-terminated texts:
 *
 *     "compare" "ns::sort_rows" "src/rows.c" "31"      the function, and where: function, file, line
 *
 * Another section has the functions that are called by their names, which are not moved where that happens:
 *
 *     "on_event" "loop"                                the function and its caller
 */

/* Appends the addresses that instrumented functions of the main file have taken, and the functions that they call by
 * name. Called after the decisions. */
void taken_addresses_append(struct source_points *points, struct buffer *text);

#endif
