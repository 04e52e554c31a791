/* decompress.h for the page: it contains a profile whose payloads are not compressed. */
#include "profile_file/decompress.h"

int decompressor_new(struct decompressor **decompressor)
{
	*decompressor = NULL;
	return 0;
}

void decompressor_free(struct decompressor *decompressor)
{
	(void)decompressor;
}

bool decompress(struct decompressor *decompressor, void *raw, size_t raw_bytes, const void *stored, size_t stored_bytes)
{
	(void)decompressor, (void)raw, (void)raw_bytes, (void)stored, (void)stored_bytes;
	return false;
}
