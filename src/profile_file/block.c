#include "profile_file/block.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "profile_file/decompress.h"

/* The payload of an empty block, so that a pointer to a payload is never NULL. */
static const uint8_t no_bytes[1];

static uint32_t file_header_check(const struct format_file_header *header)
{
	return (uint32_t)XXH64(header, offsetof(struct format_file_header, check), 0);
}

struct format_file_header format_file_header_make(void)
{
	struct format_file_header header = { .major = FORMAT_MAJOR, .minor = FORMAT_MINOR };
	memcpy(header.magic, FORMAT_MAGIC, FORMAT_MAGIC_BYTES);
	header.check = file_header_check(&header);
	return header;
}

bool format_file_header_sound(const struct format_file_header *header)
{
	return header->check == file_header_check(header);
}

bool format_block_header_sound(const struct format_block_header *header)
{
	return header->header_check == XXH64(header, offsetof(struct format_block_header, header_check), 0);
}

int unpacker_init(struct unpacker *unpacker)
{
	buffer_init(&unpacker->raw);
	return decompressor_new(&unpacker->decompressor);
}

void unpacker_release(struct unpacker *unpacker)
{
	buffer_release(&unpacker->raw);
	decompressor_free(unpacker->decompressor);
	unpacker->decompressor = NULL;
}

const uint8_t *unpacker_unpack(struct unpacker *unpacker, const struct format_block_header *header,
			       const uint8_t *stored, int *code)
{
	*code = ERROR_CORRUPT;
	if (header->raw_bytes > FORMAT_RAW_MAX || XXH64(stored, header->stored_bytes, 0) != header->payload_check)
		return NULL;
	if (header->codec == CODEC_RAW)
		return header->stored_bytes == header->raw_bytes ? stored : NULL;
	*code = ERROR_VERSION;
	if (header->codec != CODEC_ZSTD || !unpacker->decompressor)
		return NULL;
	buffer_clear(&unpacker->raw);
	*code = ERROR_MEMORY;
	if (header->raw_bytes == 0)
		return no_bytes;
	uint8_t *raw = buffer_extend(&unpacker->raw, header->raw_bytes);
	if (!raw)
		return NULL;
	*code = ERROR_CORRUPT;
	return decompress(unpacker->decompressor, raw, header->raw_bytes, stored, header->stored_bytes) ? raw : NULL;
}
