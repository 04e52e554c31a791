/* Finds the body of a function, and recognizes a body that was found before. */
#ifndef COLLECT_SOURCE_INSTRUMENT_BODIES_H
#define COLLECT_SOURCE_INSTRUMENT_BODIES_H

#include "collect/source/instrument/source_points.h"

/* Finds the function's { ... }; for a function-try-block that of the try. Returns false if there is none. */
bool bodies_find(const struct clang *clang, CXCursor function, CXCursor *body);

/* Returns whether the function is already one of point->items. libclang visits a class once as such, and again in
 * each variable that is declared with it (struct { ... } a, b;), and templates also in their instances. Two
 * functions with one text, from a macro or from a file that is included twice, count as two: then *shared is set
 * to the index of the first one's item, and is left unchanged otherwise. */
bool bodies_is_known(const struct source_points_function *function, size_t *shared);

#endif
