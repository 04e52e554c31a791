/*
 * A recording as the rows of a store: the call paths that have hits, each with its 64-bit hash, and
 * the hits added up in buckets. Hashes depend on the content alone, so equal things of several
 * recordings have the same hash.
 *
 * Life cycle: batch_init, any reading, batch_release.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include "base/buffer.h"
#include "store/store.h"

struct batch_series {
	uint32_t resource, thread, labels; /* ids of the recording; the thread may be PROFILE_NONE */
};

struct batch_hit {
	uint32_t series; /* index in series */
	uint32_t node;
	int64_t bucket; /* from that of the recording's start on; BATCH_NO_TIME: not known */
	uint64_t hits, samples;
	/* The hits of each sample, for samples that may have several: rows with another one are
	 * kept apart, because errors depend on it. 0: not told apart. */
	uint64_t size;
};

#define BATCH_NO_TIME INT64_C(-1)

struct batch_touch {
	uint32_t series;
	uint32_t node;
	int64_t bucket;
	uint64_t address, hits;
	uint32_t mapping; /* string of the recording */
};

struct batch {
	const struct profile *profile;
	int64_t start_unix_ns, end_unix_ns;
	int64_t first_bucket;      /* since 1970 */
	struct buffer description; /* a profile file: store/description.h */
	/* By id, owned. A hash of 0 marks what no hit needs. Locations are the profile's, and behind them the locations to which unknown tail
	 * calls lead (batch_location). */
	uint64_t *modules, *functions, *locations, *nodes;
	uint32_t *marked; /* the profile's location of each location to which such a call leads; owned */
	size_t marked_count;
	uint32_t *node_locations; /* by node: its location of the batch; owned */
	/* NULL without rows: */
	uint32_t *same; /* by node: the first one with its hash; owned */
	bool *has_rows; /* by node: hits or touches refer to it; owned */
	struct batch_series *series;
	size_t series_count, series_capacity;
	struct batch_hit *hits; /* sorted by series and bucket */
	size_t hit_count;
	struct batch_touch *touches; /* likewise */
	size_t touch_count;
	uint64_t samples;
};

/* Returns 0 or a negative error; in any case the caller releases the batch. The recording must outlive it. */
int batch_init(struct batch *batch, const struct store_recording *recording, int64_t bucket_ns, struct error *error);
/* The same without hits, and with the touches in one bucket. */
int batch_init_without_hits(struct batch *batch, const struct store_recording *recording, struct error *error);
void batch_release(struct batch *batch);

size_t batch_location_count(const struct batch *batch);
/* Returns the profile's location of one of the batch, and sets *marks (store/hash.h). */
const struct profile_location *batch_location(const struct batch *batch, uint32_t id, uint8_t *marks);

#endif
