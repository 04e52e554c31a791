/*
 * Where a function's body is, and whether that has been met before.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_BODIES_H
#define COLLECT_SOURCE_INSTRUMENT_BODIES_H

#include "collect/source/instrument/source_points.h"

/* Its { ... }: of a function-try-block what is tried. False: it has none. */
bool bodies_find(const struct clang *clang, CXCursor function, CXCursor *body);

/* Whether it is one of point->items. Classes are met once as such, and once more in each variable that is declared with them:
 * struct { ... } a, b; and templates in what they are instantiated as. Two functions of one text, which comes from a macro or a file
 * that is included twice, are two: *shared is then the first one's item, and otherwise left as it is. */
bool bodies_is_known(const struct source_points_function *function, size_t *shared);

#endif
