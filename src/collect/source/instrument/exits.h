/*
 * Where a function of C is left, for compilers that know no cleanup: the tool says so at each exit.
 *
 *     int f(int a)                      {FUNCTION(1) int cpprof_value_1;
 *         if (a < 0) return -1;         if (a < 0) return (cpprof_value_1=(-1),LEAVE(1),cpprof_value_1);
 *     }                                 LEAVE(1);}
 *     void g(void) { return; }          {FUNCTION(2) {LEAVE(2);return;} }
 *
 * What is returned is evaluated before. A `goto` stays within the function; what a longjmp or an exit leaves, the library
 * drops. Each `return` is looked for in the text, branches of #if that clang does not take included, and each one that clang knows
 * of must be among those: else the function is left alone.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_EXITS_H
#define COLLECT_SOURCE_INSTRUMENT_EXITS_H

#include "collect/source/instrument/source_points.h"

/* A `return` that clang has found. */
struct source_points_return {
	size_t function; /* in points.items */
	uint32_t offset; /* bytes; UINT32_MAX: in another file */
	bool is_last;    /* so far: of the function's body, outside of other blocks */
};

/* For a found function: the variable that keeps its value, or the reason why
 * there can be none. */
void exits_describe(const struct source_points_function *function);
/* A statement in a function (its number) that stands directly in `parent`. */
void exits_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent);
/* Called when all probe points are known: marks those whose exits are not clear
 * as skipped. */
void exits_check(struct source_points *points);

/* Returns the expression at a probe point's exits, in the arena. */
const char *exits_leave(const struct source_points *points, const struct source_points_item *item);
/* Returns the declaration that must follow a function's object; "" if none. */
const char *exits_declaration(const struct source_points *points, const struct source_points_item *item);
/* Adds the edits at a function's exits. After those of all that is in it, which then is left before. */
void exits_insert(struct source_points *points, const struct source_points_item *item);

#endif
