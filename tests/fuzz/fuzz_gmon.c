/*
 * Arbitrary bytes as gmon.out. The content that was read is written and read again, and must be the same, unless
 * it is too large to be written. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gprof/gmon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int read_bytes(struct gmon *gmon, const void *bytes, size_t size)
{
	struct error error = { 0 };
	FILE *in = size ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "re");
	require(in != NULL);
	int code = gmon_read(gmon, in, "input", &error);
	require(code == 0 || (code == error.code && error.message[0]));
	fclose(in);
	return code;
}

static void require_sorted(const struct gmon *gmon)
{
	for (size_t i = 1; i < gmon->arc_count; i++) {
		const struct gmon_arc *one = &gmon->arcs[i - 1], *next = &gmon->arcs[i];
		require(one->from < next->from || (one->from == next->from && one->self < next->self));
	}
	for (size_t i = 1; i < gmon->block_count; i++)
		require(gmon->blocks[i - 1].address < gmon->blocks[i].address);
}

static uint64_t ticks(const struct gmon *gmon)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < gmon->histogram_count; i++)
		for (size_t bin = 0; bin < gmon->histograms[i].bin_count; bin++)
			sum += gmon->histograms[i].bins[bin];
	return sum;
}

static void require_same(const struct gmon *one, const struct gmon *other)
{
	require(one->arc_count == other->arc_count && one->block_count == other->block_count);
	for (size_t i = 0; i < one->arc_count; i++)
		require(one->arcs[i].from == other->arcs[i].from && one->arcs[i].self == other->arcs[i].self &&
			one->arcs[i].count == other->arcs[i].count);
	if (one->block_count)
		require(memcmp(one->blocks, other->blocks, one->block_count * sizeof(*one->blocks)) == 0);
	require(ticks(one) == ticks(other));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gmon gmon, again;
	gmon_init(&gmon);
	gmon_init(&again);
	if (read_bytes(&gmon, data, size) == 0) {
		require_sorted(&gmon);
		char *bytes = NULL;
		size_t length = 0;
		struct error error = { 0 };
		FILE *out = open_memstream(&bytes, &length);
		require(out != NULL);
		struct sink sink;
		sink_init(&sink, out);
		bool written = gmon_write(&gmon, &sink, &error) == 0;
		fclose(out);
		require(written || error.message[0]);
		if (written) {
			require(read_bytes(&again, bytes, length) == 0);
			require_same(&gmon, &again);
		}
		free(bytes);
	}
	gmon_release(&again);
	gmon_release(&gmon);
	return 0;
}
