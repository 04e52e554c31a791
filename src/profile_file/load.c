#include "profile_file/load.h"

int load_buffers_init(struct load_buffers *buffers)
{
	buffer_init(&buffers->stored);
	return unpacker_init(&buffers->unpacker);
}

void load_buffers_release(struct load_buffers *buffers)
{
	buffer_release(&buffers->stored);
	unpacker_release(&buffers->unpacker);
}

const uint8_t *load_payload(const struct load *load, const struct load_block *block, struct load_buffers *buffers,
			    int *code)
{
	const uint8_t *stored = source_read(&load->source, block->offset + sizeof(block->header),
					    block->header.stored_bytes, &buffers->stored, code);
	return stored ? unpacker_unpack(&buffers->unpacker, &block->header, stored, code) : NULL;
}

int load_block_error(const struct load *load, const struct load_block *block, int code, struct error *error)
{
	const char *name = load->source.name;
	unsigned long long offset = block->offset;
	switch (code) {
	case ERROR_CORRUPT:
		return error_set(error, code, "%s is damaged: corrupt block at byte %llu", name, offset);
	case ERROR_VERSION:
		return error_set(error, code, "cannot read %s: a newer cpprof wrote it (update cpprof)", name);
	case ERROR_SYSTEM:
		return error_set_errno(error, "cannot read %s", name);
	default:
		return error_set(error, code, "cannot read %s: %s", name, error_text(code));
	}
}
