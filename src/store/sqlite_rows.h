#ifndef STORE_SQLITE_ROWS_H
#define STORE_SQLITE_ROWS_H

#include "store/batch.h"
#include "store/sqlite.h"

/* Adds the hits and touches of a batch to the row `profile` of `profiles`. `stacks`: the ids of the nodes that have rows. Returns 0 or a negative error. */
int sqlite_add_rows(const struct sqlite_store *store, const struct batch *batch, int64_t profile, const int64_t *stacks,
		    struct error *error);

#endif
