/* Decompresses payloads. */
#ifndef PROFILE_FILE_DECOMPRESS_H
#define PROFILE_FILE_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

struct decompressor;

/* Sets *decompressor, which is NULL if this build cannot decompress. Returns 0 or ERROR_MEMORY. */
int decompressor_new(struct decompressor **decompressor);
void decompressor_free(struct decompressor *decompressor); /* accepts NULL */

/* Fills `raw` with exactly `raw_bytes`. Returns false if `stored` is not zstd frames of that length. */
bool decompress(struct decompressor *decompressor, void *raw, size_t raw_bytes, const void *stored,
		size_t stored_bytes);

#endif
