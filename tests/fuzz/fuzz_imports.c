/*
 * Arbitrary bytes as files of other tools: the first byte selects the format. A profile that was read is sound, and is exported as
 * pprof and read again: it has the same hits. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "formats/import_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct profile *read_bytes(const struct format *format, const void *bytes, size_t size)
{
	struct error error = { 0 };
	static struct import_stream stream;
	FILE *in = size ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "re");
	require(in != NULL && import_stream_open(&stream, in) == 0);
	format_recognise(stream.start, stream.start_bytes);
	struct profile *profile = format->import(stream.in, "input", NULL, &error);
	require(profile || (error.code < 0 && error.message[0]));
	import_stream_close(&stream);
	fclose(in);
	if (profile)
		require(profile_check(profile) == 0);
	return profile;
}

static uint64_t amounts_of(const struct profile *profile)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < profile->hit_count; i++)
		sum += profile->hits[i].count * profile->resources[profile->hits[i].resource].interval;
	return sum;
}

static void write_and_read(const struct profile *profile)
{
	char *bytes = NULL;
	size_t size = 0;
	struct error error = { 0 };
	const struct format *pprof = format_find("pprof");
	struct format_input input = { .profile = profile, .view = { .thread = VIEW_ANY, .resource = PROFILE_NONE } };
	struct sink sink;
	FILE *out = open_memstream(&bytes, &size);
	require(out != NULL);
	sink_init(&sink, out);
	require(format_export(pprof, &input, &sink, &error) == 0);
	fclose(out);
	struct profile *again = read_bytes(pprof, bytes, size);
	require(again != NULL && amounts_of(again) == amounts_of(profile));
	profile_free(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "pprof",   "perf-script", "speedscope", "callgrind", "chrome",
					     "firefox", "strace",      "heaptrack",  "trace" };
	enum { AMOUNT_BITS = 40 };
	if (size == 0)
		return 0;
	const struct format *format = format_find(names[data[0] % (sizeof(names) / sizeof(names[0]))]);
	struct profile *profile = read_bytes(format, data + 1, size - 1);
	bool is_small = profile != NULL && profile->resource_count > 0;
	for (size_t i = 0; is_small && i < profile->hit_count; i++) {
		uint64_t interval = profile->resources[profile->hits[i].resource].interval;
		is_small = profile->hits[i].count >> AMOUNT_BITS == 0 && interval >> (AMOUNT_BITS / 2) == 0;
	}
	if (is_small) /* larger amounts are cut by the export */
		write_and_read(profile);
	profile_free(profile);
	return 0;
}
