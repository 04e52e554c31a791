#include "profile_file/decompress.h"

#include <zstd.h>

#include "base/error.h"

/* A struct decompressor is a ZSTD_DCtx. */
static ZSTD_DCtx *context(struct decompressor *decompressor)
{
	return (ZSTD_DCtx *)decompressor;
}

int decompressor_new(struct decompressor **decompressor)
{
	*decompressor = (struct decompressor *)ZSTD_createDCtx();
	return *decompressor ? 0 : ERROR_MEMORY;
}

void decompressor_free(struct decompressor *decompressor)
{
	ZSTD_freeDCtx(context(decompressor));
}

bool decompress(struct decompressor *decompressor, void *raw, size_t raw_bytes, const void *stored, size_t stored_bytes)
{
	return ZSTD_decompressDCtx(context(decompressor), raw, raw_bytes, stored, stored_bytes) == raw_bytes;
}
