/* Packs and unpacks whole blocks: compression, checks and headers. */
#ifndef PROFILE_FILE_BLOCK_H
#define PROFILE_FILE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "profile_file/format.h"

/* Life cycle: packer_init; for each block: fill `raw`, packer_pack, write `whole`; packer_release. Both buffers keep
 * their memory for the next block. */
struct packer {
	struct buffer raw;        /* the payload, filled in by the caller */
	struct buffer whole;      /* header and stored payload, valid until the next packer_pack */
	struct ZSTD_CCtx_s *zstd; /* NULL: payloads are not compressed */
};

int packer_init(struct packer *packer, bool compresses); /* returns 0 or ERROR_MEMORY */
void packer_release(struct packer *packer);

/* Makes a block of `raw`, and empties `raw`. Compresses the payload, if the packer does, unless that would not make it smaller. Returns
 * 0, ERROR_MEMORY or ERROR_LIMIT. */
int packer_pack(struct packer *packer, enum format_block_type type, size_t rows, uint64_t first);

/* The file header, and the checks of both kinds of headers. */
struct format_file_header format_file_header_make(void);
bool format_file_header_sound(const struct format_file_header *header);
bool format_block_header_sound(const struct format_block_header *header);

/* Life cycle: unpacker_init; for each block unpacker_unpack; unpacker_release. unpacker_unpack returns the payload,
 * which is valid until the next call, or NULL with *code set: ERROR_CORRUPT, ERROR_VERSION (a codec of a later
 * version) or ERROR_MEMORY. */
struct unpacker {
	struct buffer raw;
	struct decompressor *decompressor; /* NULL: this build reads only payloads that are not compressed */
};

int unpacker_init(struct unpacker *unpacker); /* returns 0 or ERROR_MEMORY */
void unpacker_release(struct unpacker *unpacker);
const uint8_t *unpacker_unpack(struct unpacker *unpacker, const struct format_block_header *header,
			       const uint8_t *stored, int *code);

#endif
