/* Branches of `#if` that test the compiler. gcc may compile other branches than
 * clang, which has parsed the file: code in those is not instrumented, and the
 * report names them. */
#ifndef COLLECT_SOURCE_INSTRUMENT_BRANCHES_H
#define COLLECT_SOURCE_INSTRUMENT_BRANCHES_H

#include "collect/source/instrument/source_points.h"

/* Adds a skipped probe point for each branch of the main file that clang has left out and that contains a `{`. */
void branches_take(struct source_points *points);

/* Returns whether a condition tests the compiler: "__GNUC__ >= 7". The
 * condition ends at `end`. */
bool branches_is_of_compiler(const char *condition, const char *end);

#endif
