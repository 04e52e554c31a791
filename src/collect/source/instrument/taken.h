/*
 * Functions with taken addresses: passed on, stored or compared. `cpprof report --lexical` shows them under the
 * function that took them. The result is not an edit: it is appended to the copy, and becomes a section of the
 * object file that no program loads, with NUL-terminated texts:
 *
 *     "compare" "ns::sort_rows" "src/rows.c" "31"      the function, and where: function, file, line
 *
 * Another section has the functions that are called by their names, which are not moved where that happens:
 *
 *     "on_event" "loop"                                the function and its caller
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_TAKEN_H
#define COLLECT_SOURCE_INSTRUMENT_TAKEN_H

#include "base/buffer.h"
#include "collect/source/instrument/source_points.h"

/* Appends the addresses that instrumented functions of the main file have taken, and the functions that they call by
 * name. Called after the decisions. */
void taken_append(struct source_points *points, struct buffer *text);

#endif
