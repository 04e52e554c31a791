/* Writes gmon.out: 64-bit counts in fields of 16 and 32 bits, in as many records as necessary. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gprof/gmon.h"

enum { MOST_RECORDS = 1 << 20 }; /* for one count; counts that need more are refused */

static void put(struct sink *out, const void *bytes, size_t size)
{
	sink_write(out, bytes, size);
}

static void put_u8(struct sink *out, uint8_t value)
{
	put(out, &value, sizeof(value));
}

static void put_u16(struct sink *out, uint16_t value)
{
	put(out, &value, sizeof(value));
}

static void put_u32(struct sink *out, uint32_t value)
{
	put(out, &value, sizeof(value));
}

static void put_u64(struct sink *out, uint64_t value)
{
	put(out, &value, sizeof(value));
}

/* Returns the part of a count that record number `round` holds, in a field with the largest value `limit`. */
static uint64_t part_of(uint64_t count, uint64_t round, uint64_t limit)
{
	uint64_t before = round * limit; /* rounds are so few that this does not overflow */
	return count <= before ? 0 : count - before < limit ? count - before : limit;
}

static int too_many(struct error *error)
{
	return error_set(error, ERROR_LIMIT, "cannot write gmon.out: the counts are too high for the format");
}

/* --- histograms --- */

/* Bins [first, first + count) of a histogram. */
struct stretch {
	const struct gmon_histogram *histogram;
	size_t first, count;
};

static uint64_t rounds_for(const struct stretch *stretch)
{
	uint64_t most = 0;
	for (size_t i = 0; i < stretch->count; i++) {
		uint64_t bin = stretch->histogram->bins[stretch->first + i];
		most = bin > most ? bin : most;
	}
	return most / UINT16_MAX + (most % UINT16_MAX != 0);
}

static void write_round(const struct stretch *stretch, uint64_t round, struct sink *out)
{
	const struct gmon_histogram *histogram = stretch->histogram;
	uint64_t range = histogram->high - histogram->low;
	uint64_t width = range / histogram->bin_count;
	bool is_whole = stretch->count == histogram->bin_count;
	uint64_t low = is_whole ? histogram->low : histogram->low + stretch->first * width;
	put_u8(out, 0);
	put_u64(out, low);
	put_u64(out, is_whole ? histogram->high : low + stretch->count * width);
	put_u32(out, (uint32_t)stretch->count);
	put_u32(out, histogram->rate);
	put(out, histogram->dimension, sizeof(histogram->dimension) - 1);
	put_u8(out, (uint8_t)histogram->abbreviation);
	for (size_t i = 0; i < stretch->count; i++)
		put_u16(out, (uint16_t)part_of(histogram->bins[stretch->first + i], round, UINT16_MAX));
}

static int write_stretch(const struct stretch *stretch, uint64_t rounds, struct sink *out, struct error *error)
{
	if (rounds > MOST_RECORDS || stretch->count > UINT32_MAX)
		return too_many(error);
	for (uint64_t round = 0; round < rounds && !sink_failed(out); round++)
		write_round(stretch, round, out);
	return 0;
}

static int write_histogram(const struct gmon_histogram *histogram, struct sink *out, struct error *error)
{
	struct stretch whole = { .histogram = histogram, .count = histogram->bin_count };
	uint64_t rounds = rounds_for(&whole);
	if (rounds <= 1 || rounds <= GMON_DENSE_BYTES / sizeof(uint16_t) / histogram->bin_count ||
	    (histogram->high - histogram->low) % histogram->bin_count != 0)
		return write_stretch(&whole, rounds ? rounds : 1, out, error);
	int code = 0;
	for (size_t first = 0, count = 0; first < whole.count && code == 0; first += count) {
		/* A single bin could be narrower than a unit, so the last stretch has at least two. */
		count = whole.count - first <= GMON_SPARSE_BINS + 1 ? whole.count - first : GMON_SPARSE_BINS;
		struct stretch stretch = { .histogram = histogram, .first = first, .count = count };
		code = write_stretch(&stretch, rounds_for(&stretch), out, error);
	}
	return code;
}

/* --- arcs and blocks --- */

static int write_arc(const struct gmon_arc *arc, struct sink *out, struct error *error)
{
	uint64_t rounds = arc->count / UINT32_MAX + (arc->count % UINT32_MAX != 0);
	if (rounds > MOST_RECORDS)
		return too_many(error);
	for (uint64_t round = 0; round < (rounds ? rounds : 1) && !sink_failed(out); round++) {
		put_u8(out, 1);
		put_u64(out, arc->from);
		put_u64(out, arc->self);
		put_u32(out, (uint32_t)part_of(arc->count, round, UINT32_MAX));
	}
	return 0;
}

/* Keeps the order of the arcs, because reports sort equal arcs by it. */
static int write_arcs(const struct gmon *gmon, struct sink *out, struct error *error)
{
	const struct gmon_arc **arcs = gmon_arcs_in_order(gmon);
	if (!arcs)
		return error_memory(error);
	int code = 0;
	for (size_t i = 0; i < gmon->arc_count && code == 0; i++)
		code = write_arc(arcs[i], out, error);
	free(arcs);
	return code;
}

static void write_blocks(const struct gmon *gmon, struct sink *out)
{
	size_t done = 0;
	while (done < gmon->block_count) {
		size_t left = gmon->block_count - done;
		uint32_t count = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
		put_u8(out, 2);
		put_u32(out, count);
		for (uint32_t i = 0; i < count; i++, done++) {
			put_u64(out, gmon->blocks[done].address);
			put_u64(out, gmon->blocks[done].count);
		}
	}
}

int gmon_write(const struct gmon *gmon, struct sink *out, struct error *error)
{
	static const uint8_t header[] = { 'g', 'm', 'o', 'n', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	int code = 0;
	put(out, header, sizeof(header));
	for (size_t i = 0; i < gmon->histogram_count && code == 0; i++)
		code = write_histogram(&gmon->histograms[i], out, error);
	if (code == 0)
		code = write_arcs(gmon, out, error);
	if (code < 0)
		return code;
	write_blocks(gmon, out);
	return sink_finish(out, "gmon.out", error);
}
