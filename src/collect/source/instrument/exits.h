/*
 * The exits of C functions, for compilers without the cleanup attribute: the instrumenter inserts a statement at
 * each exit.
 *
 *     int f(int a)                      {FUNCTION(1) int cpprof_value_1;
 *         if (a < 0) return -1;         if (a < 0) return (cpprof_value_1=(-1),LEAVE(1),cpprof_value_1);
 *     }                                 LEAVE(1);}
 *     void g(void) { return; }          {FUNCTION(2) {LEAVE(2);return;} }
 *
 * The returned value is evaluated before LEAVE. A `goto` does not leave the function; if a longjmp or an exit leaves
 * functions, the library drops their entries. Each `return` is searched in the text, also in branches of #if that
 * clang does not take, and each one that clang reports must be among them: otherwise the function is not
 * instrumented.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_EXITS_H
#define COLLECT_SOURCE_INSTRUMENT_EXITS_H

#include "collect/source/instrument/source_points.h"

/* A `return` that clang has found. */
struct source_points_return {
	size_t function; /* in points.items */
	uint32_t offset; /* in bytes; UINT32_MAX: in another file */
	bool is_last;    /* so far the last statement that is directly in the function's body */
};

/* Sets the declaration of the variable that keeps a function's return value, or the reason why there can be none. */
void exits_describe(const struct source_points_function *function);
/* Records a statement, whose parent is `parent`, of the function with this index in points->items. */
void exits_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent);
/* Marks functions with unclear exits as skipped. Called when all probe points are known. */
void exits_check(struct source_points *points);

/* Returns the expression for a probe point's exits, in the arena. */
const char *exits_leave(const struct source_points *points, const struct source_points_item *item);
/* Returns the declaration that must follow a function's object, or "" if it needs none. */
const char *exits_declaration(const struct source_points *points, const struct source_points_item *item);
/* Adds the edits at a function's exits. Call it after adding the edits of all probe points in the function, which are
 * left before it. */
void exits_insert(struct source_points *points, const struct source_points_item *item);

#endif
