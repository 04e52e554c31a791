/*
 * Branches of `#if` that ask which compiler this is. gcc may take others of them than clang, which has parsed the file: what stands in
 * those was not seen, and the report says so.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_BRANCHES_H
#define COLLECT_SOURCE_INSTRUMENT_BRANCHES_H

#include "collect/source/instrument/source_points.h"

/* Adds a probe point, which is skipped, for each branch of the main file that clang has left out and that has a `{` in it. */
void branches_take(struct source_points *points);

/* Whether a condition is about the compiler: "__GNUC__ >= 7". It ends at `end`. */
bool branches_is_of_compiler(const char *condition, const char *end);

#endif
