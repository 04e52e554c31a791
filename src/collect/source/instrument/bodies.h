/* Finds a function's body, and whether an earlier function has the same one. */
#ifndef COLLECT_SOURCE_INSTRUMENT_BODIES_H
#define COLLECT_SOURCE_INSTRUMENT_BODIES_H

#include "collect/source/instrument/source_points.h"

/* Finds its { ... }; for a function-try-block the tried block. Returns false if
 * it has none. */
bool bodies_find(const struct clang *clang, CXCursor function, CXCursor *body);

/* Returns whether it is one of point->items. libclang visits a class once as
 * such, and once more in each variable that is declared with it (struct { ... }
 * a, b;), and templates also in their instances. Two functions with one text,
 * from a macro or a file that is included twice, are two: *shared is then the
 * first one's item, and otherwise unchanged. */
bool bodies_is_known(const struct source_points_function *function, size_t *shared);

#endif
