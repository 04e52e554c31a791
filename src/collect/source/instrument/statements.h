/*
 * Probe points within a function: loops, statements with calls, basic blocks. A loop or a statement is put into
 * braces with its object; a block is counted by a separate statement at its beginning:
 *
 *     for (...) f();      {LOOP for (...) {BLOCK {CALL f();}}}
 *
 * A probe point is not instrumented if a jump leads into its braces, or if a macro contains its text.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_STATEMENTS_H
#define COLLECT_SOURCE_INSTRUMENT_STATEMENTS_H

#include "collect/source/instrument/source_points.h"

/* Adds the probe points of one cursor in the function with the number `function` (in points->items), if it is one of
 * these. */
void statements_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent);

#endif
