/*
 * What stands within a function: loops, statements that call something, basic blocks. A loop and a statement are put into braces
 * with their object, a block is counted by a statement of its own at its beginning:
 *
 *     for (...) f();      {LOOP for (...) {BLOCK {CALL f();}}}
 *
 * Where a jump leads into what would be in the braces, or what stands there is a macro's, they are left alone.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_STATEMENTS_H
#define COLLECT_SOURCE_INSTRUMENT_STATEMENTS_H

#include "collect/source/instrument/source_points.h"

/* Adds the probe points of one cursor within the function `function` (its number in points->items), if it is one of these. */
void statements_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent);

#endif
