/*
 * Rows of hits that are added up: rows with the same call path, resource, label set and hits of each sample become one, without time and thread. The
 * rows grow with the number of different call paths, not with the number of hits.
 *
 * Life cycle: {0}, any number of row_sums_add, row_sums_put, row_sums_release.
 */
#ifndef STORE_ROW_SUMS_H
#define STORE_ROW_SUMS_H

#include "base/hash_map.h"
#include "profile/profile.h"

struct row_sum {
	uint64_t size; /* hits of each sample; 0: not told apart */
	uint64_t hits;
	uint32_t node, resource, labels;
};

struct row_sums {
	struct row_sum *items; /* owned */
	size_t count, capacity;
	uint64_t hits;         /* of all rows that were ever added */
	struct hash_map index; /* numbers of items by their hash */
};

/* Returns 0, ERROR_MEMORY, or ERROR_LIMIT if a profile cannot have so many hits. */
int row_sums_add(struct row_sums *sums, const struct row_sum *row);

/* Appends all rows to the profile's hits, and removes them. Returns 0, ERROR_MEMORY, or ERROR_LIMIT if the hits need more than `memory` bytes
 * (0: any). */
int row_sums_put(struct row_sums *sums, struct profile *profile, uint64_t memory);

void row_sums_release(struct row_sums *sums);

#endif
