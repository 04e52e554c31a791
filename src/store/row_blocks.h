/* Makes blocks (store/rows.h) of the hits and touches of a recording: a block has rows of one resource, sorted by thread, label set, bucket and stack. */
#ifndef STORE_ROW_BLOCKS_H
#define STORE_ROW_BLOCKS_H

#include "store/batch.h"
#include "store/rows.h"

struct row_block {
	uint32_t resource;   /* id of the recording */
	int64_t first, last; /* buckets, from the recording's first one on; BATCH_NO_TIME: rows without a time */
	size_t rows;
	const uint8_t *bytes; /* valid until the call returns */
	size_t size;
};

struct row_blocks {
	const struct batch *batch;
	const int64_t *stacks; /* by node with rows: its number, below 2^32 */
	/* Takes a block. Returns 0, or a negative error with `error` set. */
	int (*take)(void *context, const struct row_block *block);
	void *context;
	struct error *error;
};

/* Makes the blocks of the hits (BLOCK_HITS) or touches (BLOCK_TOUCHES). Returns 0 or a negative error, with `error` set. */
int row_blocks_make(const struct row_blocks *blocks, enum format_block_type type);

#endif
