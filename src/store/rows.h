/*
 * Rows of hits or touches as one block of a profile file (profile_file/format.h) with other columns: each column over all rows, and then, with
 * touches, the texts of the mappings. Neighbours are alike where rows are sorted, and a block takes a byte or two for each row.
 *
 * Life cycles: rows_packer_init, any number of rows_pack, rows_packer_release; the same with the unpacker.
 */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "profile/profile.h"
#include "profile_file/block.h"

struct packed_row {
	uint64_t bucket_after;   /* the bucket, from the recording's first one on, + 1; 0: without a time */
	uint64_t stack;          /* id of the store */
	uint64_t amount;         /* samples, if `size` is not 0; otherwise hits */
	uint64_t size;           /* hits of each sample */
	uint64_t address;        /* touches only, like `mapping` */
	uint32_t thread, labels; /* ids of the recording; the thread may be PROFILE_NONE */
	uint32_t mapping;        /* string of the recording; of an unpacked row: index in the unpacker's texts */
};

struct rows_packer {
	struct packer packer;
	uint64_t *values; /* of one column; owned */
};

int rows_packer_init(
	struct rows_packer *packer); /* returns 0 or ERROR_MEMORY; the caller releases the packer in any case */
void rows_packer_release(struct rows_packer *packer);

/* Packs 1 to FORMAT_ROWS_MAX rows, BLOCK_HITS or BLOCK_TOUCHES. `profile` has the texts of the mappings. Returns 0, and the block is in
 * packer->packer.whole until the next call, or ERROR_MEMORY or ERROR_LIMIT. */
int rows_pack(struct rows_packer *packer, enum format_block_type type, const struct profile *profile,
	      const struct packed_row *rows, size_t count);

struct rows_unpacker {
	struct unpacker unpacker;
	struct packed_row *rows; /* owned */
	size_t capacity;
	const char **texts; /* of the last block; the array is owned */
	size_t text_count, text_capacity;
};

int rows_unpacker_init(
	struct rows_unpacker *unpacker); /* returns 0 or ERROR_MEMORY; the caller releases it in any case */
void rows_unpacker_release(struct rows_unpacker *unpacker);

/* Unpacks a block of this type into unpacker->rows, which are valid, like the texts, until the next call. Returns the number of rows, or
 * ERROR_CORRUPT, ERROR_VERSION or ERROR_MEMORY. All but the ids of mappings are arbitrary numbers. */
int64_t rows_unpack(struct rows_unpacker *unpacker, enum format_block_type type, const void *block, size_t bytes);

#endif
