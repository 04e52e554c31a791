/*
 * Arbitrary bytes as a tally. A tally has at least 64 KB, nearly all zeros. An input therefore holds only the
 * other bytes: the size of the file in granules, and then any number of
 *
 *     offset (4 bytes)   length (1 byte)   bytes
 *
 * Built for libFuzzer, or with replay.c as a program that runs the stored corpus.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/count/tally.h"
#include "frames/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int no_module(void *context, uint32_t module, struct error *error)
{
	(void)context;
	(void)module;
	return error_set(error, ERROR_NOT_FOUND, "no file");
}

static void fill(uint8_t *file, size_t file_size, const uint8_t *data, size_t size)
{
	enum { HEAD_BYTES = 5 };
	while (size > HEAD_BYTES) {
		uint32_t place;
		memcpy(&place, data, sizeof(place));
		size_t length = data[sizeof(place)];
		data += HEAD_BYTES;
		size -= HEAD_BYTES;
		length = length < size ? length : size;
		if (place < file_size)
			memcpy(file + place, data, length < file_size - place ? length : file_size - place);
		data += length;
		size -= length;
	}
}

static void load(const uint8_t *file, size_t size)
{
	static const struct frames_options options = { .open_module = no_module };
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(file, size, "input", &error);
	if (!tally && (error.code >= 0 || !error.message[0]))
		abort();
	struct profile *profile = tally ? profile_new() : NULL;
	int result = profile ? tally_locations(tally, profile, &error) : 0;
	if (profile && result == 0)
		result = frames_name_profile(profile, &options, &error);
	if (profile && result == 0)
		result = tally_hits(tally, profile, &error);
	if (result < 0 ? !error.message[0] : profile && profile_check(profile) != 0)
		abort();
	profile_free(profile);
	tally_free(tally);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { GRANULES_MAX = 8, ALIGNMENT = 64 };
	if (size < 1)
		return 0;
	size_t file_size = (size_t)(1 + data[0] % GRANULES_MAX) * TALLY_GRANULE;
	uint8_t *file = aligned_alloc(ALIGNMENT, file_size);
	if (!file)
		return 0;
	memset(file, 0, file_size);
	fill(file, file_size, data + 1, size - 1);
	load(file, file_size);
	free(file);
	return 0;
}
