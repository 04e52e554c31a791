/* Arcs, blocks and histograms in memory: appended, then sorted and added up. */
#include "gprof/gmon.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/lower_bound.h"

void gmon_init(struct gmon *gmon)
{
	*gmon = (struct gmon){ 0 };
}

void gmon_release(struct gmon *gmon)
{
	for (size_t i = 0; i < gmon->histogram_count; i++)
		free(gmon->histograms[i].bins);
	free(gmon->histograms);
	free(gmon->by_low);
	free(gmon->arcs);
	free(gmon->blocks);
	gmon_init(gmon);
}

/* Adds `count` to *sum. Returns false if the sum overflows; it is then the largest number. */
static bool add_count(uint64_t *sum, uint64_t count)
{
	if (!__builtin_add_overflow(*sum, count, sum))
		return true;
	*sum = UINT64_MAX;
	return false;
}

/* --- arcs and blocks --- */

int gmon_add_arc(struct gmon *gmon, uint64_t from, uint64_t self, uint64_t count)
{
	if (ARRAY_RESERVE(gmon->arcs, gmon->arc_capacity, gmon->arc_count + 1) < 0)
		return ERROR_MEMORY;
	gmon->arcs[gmon->arc_count++] =
		(struct gmon_arc){ .from = from, .self = self, .count = count, .order = gmon->arc_order++ };
	return 0;
}

int gmon_add_block(struct gmon *gmon, uint64_t address, uint64_t count)
{
	if (ARRAY_RESERVE(gmon->blocks, gmon->block_capacity, gmon->block_count + 1) < 0)
		return ERROR_MEMORY;
	gmon->blocks[gmon->block_count++] = (struct gmon_block){ .address = address, .count = count };
	return 0;
}

static int compare_arcs(const void *one, const void *other)
{
	const struct gmon_arc *a = one, *b = other;
	return COMPARE(a->from, b->from) ?: COMPARE(a->self, b->self);
}

static int compare_blocks(const void *one, const void *other)
{
	const struct gmon_block *a = one, *b = other;
	return COMPARE(a->address, b->address);
}

static bool merge_equal_arcs(struct gmon *gmon)
{
	bool fits = true;
	size_t kept = 0;
	if (gmon->arc_count)
		qsort(gmon->arcs, gmon->arc_count, sizeof(*gmon->arcs), compare_arcs);
	for (size_t i = 0; i < gmon->arc_count; i++) {
		struct gmon_arc *last = kept > 0 ? &gmon->arcs[kept - 1] : NULL, *arc = &gmon->arcs[i];
		if (!last || compare_arcs(last, arc) != 0) {
			gmon->arcs[kept++] = *arc;
			continue;
		}
		fits &= add_count(&last->count, arc->count);
		last->order = arc->order < last->order ? arc->order : last->order;
	}
	gmon->arc_count = kept;
	return fits;
}

static int compare_orders(const void *one, const void *other)
{
	const struct gmon_arc *const *a = one, *const *b = other;
	return COMPARE((*a)->order, (*b)->order);
}

const struct gmon_arc **gmon_arcs_in_order(const struct gmon *gmon)
{
	const struct gmon_arc **arcs = malloc((gmon->arc_count + 1) * sizeof(*arcs));
	for (size_t i = 0; arcs && i < gmon->arc_count; i++)
		arcs[i] = &gmon->arcs[i];
	if (arcs)
		qsort(arcs, gmon->arc_count, sizeof(*arcs), compare_orders);
	return arcs;
}

static bool merge_equal_blocks(struct gmon *gmon)
{
	bool fits = true;
	size_t kept = 0;
	if (gmon->block_count)
		qsort(gmon->blocks, gmon->block_count, sizeof(*gmon->blocks), compare_blocks);
	for (size_t i = 0; i < gmon->block_count; i++) {
		if (kept > 0 && gmon->blocks[kept - 1].address == gmon->blocks[i].address)
			fits &= add_count(&gmon->blocks[kept - 1].count, gmon->blocks[i].count);
		else
			gmon->blocks[kept++] = gmon->blocks[i];
	}
	gmon->block_count = kept;
	return fits;
}

int gmon_merge_equal(struct gmon *gmon)
{
	bool arcs = merge_equal_arcs(gmon), blocks = merge_equal_blocks(gmon);
	return arcs && blocks ? 0 : ERROR_LIMIT;
}

/* --- histograms --- */

static bool are_same_shape(const struct gmon_histogram *a, const struct gmon_histogram *b)
{
	return a->low == b->low && a->high == b->high && a->bin_count == b->bin_count;
}

static bool are_same_unit(const struct gmon_histogram *a, const struct gmon_histogram *b)
{
	return a->rate == b->rate && a->abbreviation == b->abbreviation &&
	       strncmp(a->dimension, b->dimension, sizeof(a->dimension)) == 0;
}

/*
 * The index: numbers of histograms, in runs that ascend by `low`. The lengths of the runs are the powers of two whose
 * sum is the number of histograms. Two runs of one length are merged, so that adding n histograms takes n log n steps
 * in any order. Behind the index there is room of the same size for merging.
 *
 *	11 histograms   | 8 of them ascend | 2 ascend | 1 |   room
 */
static void merge_runs(struct gmon *gmon, size_t start, size_t width)
{
	size_t *runs = gmon->by_low + start, *merged = gmon->by_low + gmon->histogram_count;
	size_t a = 0, b = width;
	for (size_t i = 0; i < 2 * width; i++) {
		bool is_first =
			b == 2 * width || (a < width && gmon->histograms[runs[a]].low < gmon->histograms[runs[b]].low);
		merged[i] = runs[is_first ? a++ : b++];
	}
	memcpy(runs, merged, 2 * width * sizeof(*runs));
}

/* Adds the last histogram to the index. */
static void index_last(struct gmon *gmon)
{
	size_t count = gmon->histogram_count;
	gmon->by_low[count - 1] = count - 1;
	for (size_t width = 1; count % (2 * width) == 0; width *= 2)
		merge_runs(gmon, count - 2 * width, width);
}

/* Returns how many histograms of a run begin below an address. */
static size_t count_below(const struct gmon *gmon, const size_t *run, size_t width, uint64_t address)
{
	return LOWER_BOUND(i, 0, width, gmon->histograms[run[i]].low < address);
}

/* In each run only the last histogram that begins below `high` can overlap: the histograms before it end where it begins,
 * or earlier. */
size_t gmon_find_histogram(const struct gmon *gmon, uint64_t low, uint64_t high)
{
	size_t width = 0;
	for (size_t start = 0; start < gmon->histogram_count; start += width) {
		const size_t *run = gmon->by_low + start;
		width = (size_t)1 << (63 - __builtin_clzll(gmon->histogram_count - start));
		size_t below = count_below(gmon, run, width, high);
		if (below > 0 && gmon->histograms[run[below - 1]].high > low)
			return run[below - 1];
	}
	return gmon->histogram_count;
}

/* Returns the histogram with that shape, histogram_count if there is none, or ERROR_CORRUPT if the shape does not
 * fit the other histograms. */
static int64_t find_shape(const struct gmon *gmon, const struct gmon_histogram *shape)
{
	if (gmon->histogram_count > 0 && !are_same_unit(&gmon->histograms[0], shape))
		return ERROR_CORRUPT;
	size_t found = gmon_find_histogram(gmon, shape->low, shape->high);
	if (found < gmon->histogram_count && !are_same_shape(&gmon->histograms[found], shape))
		return ERROR_CORRUPT;
	return (int64_t)found;
}

static int append_histogram(struct gmon *gmon, const struct gmon_histogram *shape)
{
	uint64_t *bins = calloc(shape->bin_count, sizeof(*bins));
	size_t count = gmon->histogram_count + 1;
	if (!bins || ARRAY_RESERVE(gmon->histograms, gmon->histogram_capacity, count) < 0 ||
	    ARRAY_RESERVE(gmon->by_low, gmon->by_low_capacity, 2 * count) < 0) {
		free(bins);
		return ERROR_MEMORY;
	}
	struct gmon_histogram *added = &gmon->histograms[gmon->histogram_count++];
	*added = *shape;
	added->dimension[sizeof(added->dimension) - 1] = '\0';
	added->bins = bins;
	index_last(gmon);
	return 0;
}

int64_t gmon_add_histogram(struct gmon *gmon, const struct gmon_histogram *shape)
{
	if (shape->bin_count == 0 || shape->low >= shape->high || shape->high - shape->low < GMON_UNIT_BYTES)
		return ERROR_CORRUPT;
	int64_t found = find_shape(gmon, shape);
	if (found == (int64_t)gmon->histogram_count) {
		int code = append_histogram(gmon, shape);
		if (code < 0)
			return code;
	}
	if (found < 0 || !shape->bins)
		return found;
	bool fits = true;
	for (size_t i = 0; i < shape->bin_count; i++)
		fits &= add_count(&gmon->histograms[found].bins[i], shape->bins[i]);
	return fits ? found : ERROR_LIMIT;
}

int gmon_add_sample(struct gmon *gmon, uint64_t address, uint64_t count)
{
	size_t found = address < UINT64_MAX ? gmon_find_histogram(gmon, address, address + 1) : gmon->histogram_count;
	if (found == gmon->histogram_count)
		return ERROR_NOT_FOUND;
	struct gmon_histogram *histogram = &gmon->histograms[found];
	__uint128_t scaled = (__uint128_t)(address - histogram->low) * histogram->bin_count;
	size_t bin = (size_t)(scaled / (histogram->high - histogram->low));
	return add_count(&histogram->bins[bin], count) ? 0 : ERROR_LIMIT;
}

/* --- the whole --- */

/* Appends the contents of `other`, without settling. */
static int append(struct gmon *gmon, const struct gmon *other)
{
	if (ARRAY_RESERVE(gmon->arcs, gmon->arc_capacity, gmon->arc_count + other->arc_count) < 0 ||
	    ARRAY_RESERVE(gmon->blocks, gmon->block_capacity, gmon->block_count + other->block_count) < 0)
		return ERROR_MEMORY;
	if (other->arc_count)
		memcpy(gmon->arcs + gmon->arc_count, other->arcs, other->arc_count * sizeof(*other->arcs));
	if (other->block_count)
		memcpy(gmon->blocks + gmon->block_count, other->blocks, other->block_count * sizeof(*other->blocks));
	for (size_t i = 0; i < other->arc_count; i++)
		gmon->arcs[gmon->arc_count + i].order += gmon->arc_order;
	gmon->arc_order += other->arc_order;
	for (size_t i = 0; i < sizeof(gmon->record_counts) / sizeof(gmon->record_counts[0]); i++)
		gmon->record_counts[i] += other->record_counts[i];
	gmon->arc_count += other->arc_count;
	gmon->block_count += other->block_count;
	for (size_t i = 0; i < other->histogram_count; i++) {
		int64_t code = gmon_add_histogram(gmon, &other->histograms[i]);
		if (code < 0)
			return (int)code;
	}
	return 0;
}

int gmon_add(struct gmon *gmon, const struct gmon *other)
{
	struct gmon sum;
	gmon_init(&sum);
	int code = append(&sum, gmon);
	if (code == 0)
		code = append(&sum, other);
	if (code == 0)
		code = gmon_merge_equal(&sum);
	if (code < 0) {
		gmon_release(&sum);
		return code;
	}
	gmon_release(gmon);
	*gmon = sum;
	return 0;
}
