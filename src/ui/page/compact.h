/*
 * A large profile as a page contains it, in less than half the room of its file.
 *
 * Hits. Times and nodes of hits in the order of time are almost random numbers. So the times of a profile with many hits are rounded: the
 * recording is divided into periods, and a hit has the time of the middle of its period. Within a period, hits are in the order of
 * their resources, threads, labels and nodes, so that the differences from hit to hit are small. All figures stay the same, also the figures of a
 * range of time that begins and ends where periods do; the page offers no other ranges.
 *
 * Nodes. The location of a node is almost a random number too, but a location has few callees. So locations are sorted by their addresses,
 * and a node has the rank of its location among the locations that are called from its parent's. The table of these is part of the page:
 *
 *     COMPACT_MAGIC (8 bytes), size of the table (8 bytes), table, profile file
 *
 * The table has a row of LEB128 numbers for each location, and a last one for the root: the number of called locations, the first one,
 * and the differences to each next one.
 */
#ifndef UI_PAGE_COMPACT_H
#define UI_PAGE_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

#define COMPACT_MAGIC "cpprank1"

enum {
	COMPACT_HITS = 1 << 18,    /* a profile with at most this many hits keeps their times */
	COMPACT_PERIODS_MAX = 400, /* a page is rarely wider than three times as many pixels */
};

/* A profile with other rows of hits and nodes. */
struct compact {
	struct profile profile; /* a copy that shares all tables but the following; not to be added to or freed */
	uint64_t period_ns; /* 1, 2 or 5 times a power of ten; 0: the times are as recorded, and nothing was copied */
	/* All owned. */
	struct profile_hit *hits;
	uint32_t *labels; /* of the hits */
	struct profile_touch *touches;
	struct profile_location *locations;
	struct profile_node *nodes; /* with ranks */
	struct buffer table;
};

/* Makes *compact of a profile, which must outlive it. `hits_most` is COMPACT_HITS but in tests. Returns 0 or ERROR_MEMORY. */
int compact_make(struct compact *compact, const struct profile *profile, size_t hits_most);
/* Appends what stands before the profile file; nothing if nothing was copied. */
void compact_write_table(const struct compact *compact, struct buffer *bytes);
void compact_release(struct compact *compact); /* accepts {0} */

/* The table in the first bytes of a page's profile. */
struct compact_table {
	const uint8_t *bytes; /* NULL: there is none */
	size_t size;
	size_t file; /* offset of the profile file */
};

/* Returns 0 or ERROR_CORRUPT. */
int compact_find_table(struct compact_table *table, const void *bytes, size_t size);
/* Gives the nodes of a profile that was read their locations. Returns 0, ERROR_CORRUPT or ERROR_MEMORY. */
int compact_restore(const struct compact_table *table, struct profile *profile);

#endif
