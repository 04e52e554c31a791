/*
 * Adds up recordings in memory, one after the other: only the sum and the present recording are
 * there at a time. Hits with the same call path, resource and labels become one row, without its
 * time and thread, so the sum grows with the number of different call paths, not with the number of
 * recordings. Figures are of all recordings together, and so are the errors of shares.
 *
 * Life cycle: merge_new, merge_add for each recording, merge_finish or merge_free.
 */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/store.h"

struct merge;

/* `memory`: limit in bytes of the description and of the hits of the sum; 0: none. Returns NULL without memory. */
struct merge *merge_new(uint64_t memory, struct error *error);
void merge_free(struct merge *merge); /* NULL is allowed */

/* Before the first merge_add: recordings have different labels, so that no hits of one become a row with those of another. The sum then
 * needs half of the memory. */
void merge_keep_apart(struct merge *merge);

/* Returns 0 or a negative error, after which only merge_free is allowed: ERROR_USAGE where a
 * resource cannot be added up because its interval, kind or unit differs. The recording's
 * service, host and identity are not used; its labels are given to its hits. */
int merge_add(struct merge *merge, const struct store_recording *recording, struct error *error);

/* Returns the sum, which the caller frees, or NULL. Frees the merge. */
struct profile *merge_finish(struct merge *merge, struct error *error);

#endif
