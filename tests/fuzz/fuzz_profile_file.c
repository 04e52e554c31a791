/*
 * Arbitrary bytes as a profile file. A profile that loads must be consistent, including its hits, which the reader
 * checks with code of its own, and it must be possible to name its frames, which follows ids in all tables. Each
 * input is loaded twice: unchanged, and with corrected checksums, since almost no damage passes them otherwise.
 * Built for libFuzzer, or with replay.c as a program that runs the stored corpus.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "frames/frames.h"
#include "profile_file/format.h"
#include "profile_file/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 256 << 20 };

static int no_module(void *context, uint32_t module, struct error *error)
{
	(void)context;
	(void)module;
	return error_set(error, ERROR_NOT_FOUND, "no file");
}

static void load(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct profile *profile = reader_load_bytes(data, size, "input", MEMORY, &error);
	if (profile ? profile_check(profile) != 0 : error.code >= 0 || !error.message[0])
		abort();
	static const struct frames_options options = { .open_module = no_module };
	if (profile)
		frames_name_profile(profile, &options, &error);
	profile_free(profile);
}

static void repair(uint8_t *data, size_t size)
{
	struct format_file_header file;
	if (size < sizeof(file))
		return;
	memcpy(&file, data, sizeof(file));
	memcpy(file.magic, FORMAT_MAGIC, FORMAT_MAGIC_BYTES);
	file.check = (uint32_t)XXH64(&file, offsetof(struct format_file_header, check), 0);
	memcpy(data, &file, sizeof(file));
	size_t at = sizeof(file);
	struct format_block_header block;
	while (size - at >= sizeof(block)) {
		memcpy(&block, data + at, sizeof(block));
		size_t left = size - at - sizeof(block);
		/* A length out of bounds ends the file. Most of them are therefore corrected. */
		if (block.stored_bytes > left && block.stored_bytes % 8)
			block.stored_bytes = (uint32_t)(block.stored_bytes % (left + 1));
		if (block.codec == CODEC_RAW && block.stored_bytes % 8)
			block.raw_bytes = block.stored_bytes;
		if (block.stored_bytes <= left)
			block.payload_check = XXH64(data + at + sizeof(block), block.stored_bytes, 0);
		block.header_check = XXH64(&block, offsetof(struct format_block_header, header_check), 0);
		memcpy(data + at, &block, sizeof(block));
		if (block.stored_bytes > left)
			return;
		at += sizeof(block) + block.stored_bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	load(data, size);
	uint8_t *repaired = malloc(size + 1);
	if (!repaired)
		return 0;
	memcpy(repaired, data, size);
	repair(repaired, size);
	load(repaired, size);
	free(repaired);
	return 0;
}
