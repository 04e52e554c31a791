/* Shared by the files of the reader: a profile that is being loaded. */
#ifndef PROFILE_FILE_LOAD_H
#define PROFILE_FILE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"
#include "profile_file/block.h"
#include "profile_file/source.h"

struct load_block {
	struct format_block_header header;
	uint64_t offset; /* of the header */
};

struct load {
	struct source source;
	struct profile *profile;
	struct load_block *blocks; /* whole blocks, in file order */
	size_t block_count;
	size_t block_capacity;
	uint64_t memory;                 /* limit of the bytes of all tables; 0: none */
	uint64_t rows[BLOCK_TYPE_COUNT]; /* per type: the rows that the headers describe */
	bool sums;                       /* hits are added up (load_sums.h) */
	uint64_t hits_before;            /* rows of the blocks of hits that were read; labels refer only to these */
};

/* Memory with which one thread reads payloads. */
struct load_buffers {
	struct unpacker unpacker;
	struct buffer stored;
};

int load_buffers_init(struct load_buffers *buffers); /* returns 0 or ERROR_MEMORY */
void load_buffers_release(struct load_buffers *buffers);

/* Returns the payload of a block, valid until the next call, or NULL with *code set. */
const uint8_t *load_payload(const struct load *load, const struct load_block *block, struct load_buffers *buffers,
			    int *code);

/* Sets `error` to the error `code` of a block, and returns `code`. */
int load_block_error(const struct load *load, const struct load_block *block, int code, struct error *error);

/* Decodes all blocks of hits, with up to 8 threads, at most one per processor. All other tables must be complete. Sets
 * *last_ns to the latest time of a hit, or to 0 if hits are added up and the file has its end. Returns 0 or a negative error, with `error` set. */
int load_hits(struct load *load, uint64_t *last_ns, struct error *error);

#endif
