/* Branches of `#if` that test the compiler. gcc may compile other branches than clang, which parses the file: code
 * in those is not instrumented, and the report lists them. */
#ifndef COLLECT_SOURCE_INSTRUMENT_BRANCHES_H
#define COLLECT_SOURCE_INSTRUMENT_BRANCHES_H

#include "collect/source/instrument/source_points.h"

/* Adds a skipped probe point for each branch of the main file that clang does not compile, that tests the compiler
 * and that contains a `{`. */
void branches_take(struct source_points *points);

/* Returns whether a condition, which ends at `end`, tests the compiler: "__GNUC__ >= 7". */
bool branches_is_of_compiler(const char *condition, const char *end);

#endif
