/*
 * gmon.out, the file format of gprof. There is one file per loaded object; addresses are the object's own (ELF
 * virtual addresses). In memory counts have 64 bits, and the counts of several records or files for one arc or block
 * are summed.
 *
 * The format: "gmon", a version (1), 12 spare bytes; then records, in the byte order of the machine:
 *
 *   tag 0   histogram   u64 low, u64 high, u32 bins, u32 rate, char dimension[15], char abbreviation, u16 per bin
 *   tag 1   arc         u64 from, u64 self, u32 count
 *   tag 2   blocks      u32 n, n x (u64 address, u64 count)
 *
 * The C library writes 8 bytes for n, which Debian's gprof cannot read: cpprof reads both forms and writes 4 bytes.
 * Counts above a field's limit are split over several records, which every reader sums.
 */
#ifndef GPROF_GMON_H
#define GPROF_GMON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/sink.h"

/* gprof counts in units of the smallest instruction of the PDP-11: a function at an odd address begins a byte
 * earlier, and a histogram narrower than a unit is refused. */
enum { GMON_UNIT_BYTES = 2 };

struct gmon_histogram {
	uint64_t low, high; /* [low, high) in equal bins */
	uint32_t rate;      /* samples per `dimension` (a second) */
	char dimension[16]; /* "seconds" */
	char abbreviation;  /* 's' */
	size_t bin_count;
	uint64_t *bins; /* owned */
};

struct gmon_arc {
	uint64_t from; /* in the caller, usually a return address; 0: outside of the object */
	uint64_t self; /* in the callee */
	uint64_t count;
	uint64_t order; /* position of its first record among all added arcs; reports sort equal arcs by it */
};

struct gmon_block {
	uint64_t address;
	uint64_t count;
};

struct gmon {
	struct gmon_histogram *histograms; /* in the order of their files; do not overlap */
	size_t *by_low;                    /* index for gmon_find_histogram: see merge_runs */
	struct gmon_arc *arcs;             /* each (from, self) once, sorted; before gmon_merge_equal in any order */
	struct gmon_block *blocks;         /* each address once, sorted; before gmon_merge_equal in any order */
	size_t histogram_count, arc_count, block_count;
	size_t histogram_capacity, by_low_capacity, arc_capacity, block_capacity;
	uint64_t arc_order;        /* the order of the next arc */
	uint64_t record_counts[3]; /* by tag: records that were read, before they were summed */
};

void gmon_init(struct gmon *gmon);
void gmon_release(struct gmon *gmon);

/* Append an arc or a block, which gmon_merge_equal later sorts and sums. Return 0, or ERROR_MEMORY with the gmon
 * unchanged. */
int gmon_add_arc(struct gmon *gmon, uint64_t from, uint64_t self, uint64_t count);
int gmon_add_block(struct gmon *gmon, uint64_t address, uint64_t count);
/* Sorts arcs and blocks and sums equal entries. Returns 0, or ERROR_LIMIT if a sum would exceed 2^64 - 1; that sum then
 * is 2^64 - 1. */
int gmon_merge_equal(struct gmon *gmon);
/* Returns the arcs in the order of their files, gmon->arc_count of them, as an array that the caller frees; NULL if
 * there is no memory. */
const struct gmon_arc **gmon_arcs_in_order(const struct gmon *gmon);

/* Finds the histogram with a shape (range, bins, rate and dimension), or adds one with empty bins; then adds the
 * bins of `shape` to it, unless they are NULL. Returns its number, ERROR_CORRUPT if the shape is damaged (no bins,
 * narrower than a unit), has another rate or overlaps another shape, ERROR_LIMIT as above, or ERROR_MEMORY. */
int64_t gmon_add_histogram(struct gmon *gmon, const struct gmon_histogram *shape);
/* Returns the number of a histogram that contains an address of [low, high), or histogram_count if there is none.
 * Takes log2(n)^2 steps. */
size_t gmon_find_histogram(const struct gmon *gmon, uint64_t low, uint64_t high);
/* Adds `count` at an address to the histogram that contains it. Returns 0, ERROR_NOT_FOUND if no histogram does, or
 * ERROR_LIMIT. */
int gmon_add_sample(struct gmon *gmon, uint64_t address, uint64_t count);

/* Adds the contents of `other`, and settles. After any error `gmon` is unchanged. */
int gmon_add(struct gmon *gmon, const struct gmon *other);

/* Adds the records of a gmon.out file, from the current position to its end, and settles; `name` is for messages.
 * After any error `gmon` is unchanged: ERROR_FORMAT (another kind of file, or another byte order), ERROR_VERSION,
 * ERROR_TRUNCATED, ERROR_CORRUPT (unknown records, impossible lengths, histograms that overlap others), ERROR_LIMIT,
 * ERROR_SYSTEM, ERROR_MEMORY. */
int gmon_read(struct gmon *gmon, FILE *in, const char *name, struct error *error);

/* Writes a file that Debian's gprof can read, and finishes the sink. A histogram with counts above 16 bits becomes
 * several records of its shape. If these would take more than GMON_DENSE_BYTES, it becomes records of
 * GMON_SPARSE_BINS bins each, without the records that have no samples; gprof's -c cannot use such records, nor add
 * them to another file's. Returns ERROR_LIMIT if that takes too many records, too. */
enum { GMON_DENSE_BYTES = 64 << 20, GMON_SPARSE_BINS = 4096 };
int gmon_write(const struct gmon *gmon, struct sink *out, struct error *error);

#endif
