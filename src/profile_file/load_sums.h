/*
 * Adds up hits while they are read, for a reader that needs neither their times nor their threads: a file of many samples then takes the memory of
 * its call paths. Hits of one node, resource, label set and size of a sample become one row, or, at nodes with many kinds of hits, a few.
 *
 * Life cycle: load_sums_init, any number of load_sums_add, load_sums_finish for all, load_sums_release.
 */
#ifndef PROFILE_FILE_LOAD_SUMS_H
#define PROFILE_FILE_LOAD_SUMS_H

#include "profile/profile.h"

struct load_sum_row;

struct load_sums {
	struct load_sum_row *rows; /* owned */
	size_t count, capacity;
	uint32_t *first; /* by node: 1 + the index of its first row; 0: none; owned */
};

int load_sums_init(struct load_sums *sums,
		   const struct profile *profile); /* returns 0 or ERROR_MEMORY; released in any case */
void load_sums_release(struct load_sums *sums);

/* Adds hits whose ids are checked, and whose counts fit into 62 bits together. `number`: that of the first one in the file. Returns 0, ERROR_MEMORY
 * or ERROR_LIMIT. */
int load_sums_add(struct load_sums *sums, const struct profile *profile, const struct profile_hit *hits, size_t count,
		  uint64_t number);

/* Makes the rows of all sums, which are `bytes` apart, the hits of the profile, in this order, with their labels. Returns 0 or ERROR_MEMORY. */
int load_sums_finish(const struct load_sums *sums, size_t count, size_t bytes, struct profile *profile);

#endif
