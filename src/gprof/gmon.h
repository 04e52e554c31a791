/*
 * gmon.out, the file format of gprof. One file per loaded object; addresses are the object's own (ELF virtual
 * addresses). In memory counts have 64 bits, and several records or files for one arc or block are summed.
 *
 * The format: "gmon", a version (1), 12 spare bytes; then records, in the order of the bytes of the machine:
 *
 *   tag 0   histogram   u64 low, u64 high, u32 bins, u32 rate, char dimension[15], char abbreviation, u16 per bin
 *   tag 1   arc         u64 from, u64 self, u32 count
 *   tag 2   blocks      u32 n, n x (u64 address, u64 count)
 *
 * The C library writes 8 bytes for n, at which Debian's gprof stops: both are read, 4 bytes are written. Counts above
 * a field's limit are split over several records, which every reader adds up.
 */
#ifndef GPROF_GMON_H
#define GPROF_GMON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/sink.h"

/* Histograms use units of the smallest instruction of the PDP-11: a function at an odd address begins a byte earlier,
 * and a histogram narrower than a unit is refused. */
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
	uint64_t from; /* in the caller, mostly a return address; 0: outside the object */
	uint64_t self; /* in the callee */
	uint64_t count;
	uint64_t order; /* position of its first record among all added arcs: reports order equal arcs by it */
};

struct gmon_block {
	uint64_t address;
	uint64_t count;
};

struct gmon {
	struct gmon_histogram *histograms; /* in the order of their files; do not overlap */
	size_t *by_low;                    /* their numbers, for gmon_find_histogram */
	struct gmon_arc *arcs;             /* each (from, self) once, sorted by them */
	struct gmon_block *blocks;         /* each address once, sorted */
	size_t histogram_count, arc_count, block_count;
	size_t histogram_capacity, by_low_capacity, arc_capacity, block_capacity;
	uint64_t arc_order;        /* the order of the next arc */
	uint64_t record_counts[3]; /* by tag: how many records were read, before they were added up */
};

void gmon_init(struct gmon *gmon);
void gmon_release(struct gmon *gmon);

/* Adds to what is there. ERROR_MEMORY; nothing changed then. Not sorted, and not one each, before gmon_settle. */
int gmon_add_arc(struct gmon *gmon, uint64_t from, uint64_t self, uint64_t count);
int gmon_add_block(struct gmon *gmon, uint64_t address, uint64_t count);
/* Sorts and adds up what is the same. ERROR_LIMIT: a sum would pass 2^64 - 1, and is that. */
int gmon_settle(struct gmon *gmon);
/* The arcs in the order of their files: gmon->arc_count of them, to be freed. NULL: out of memory. */
const struct gmon_arc **gmon_arcs_in_order(const struct gmon *gmon);

/* The number of the histogram of that shape: range, bins, rate and dimension. It is added with empty bins if there is
 * none, then the bins of `shape` are added to it, unless they are NULL. ERROR_CORRUPT: it is damaged (no bins,
 * narrower than a unit), of another rate, or overlaps another shape; ERROR_LIMIT: as above; ERROR_MEMORY. */
int64_t gmon_add_histogram(struct gmon *gmon, const struct gmon_histogram *shape);
/* The number of a histogram that has an address of [low, high), histogram_count if none has. Takes log2(n)^2 steps. */
size_t gmon_find_histogram(const struct gmon *gmon, uint64_t low, uint64_t high);
/* Counts at an address: in the histogram that covers it. ERROR_NOT_FOUND: none does; ERROR_LIMIT. */
int gmon_add_sample(struct gmon *gmon, uint64_t address, uint64_t count);

/* Adds all that `other` holds and settles; on any error `gmon` is as it was. */
int gmon_add(struct gmon *gmon, const struct gmon *other);

/* Adds a file's records (gmon.out of any length, to its end; `name` is for messages) and settles. On any error `gmon` is
 * as it was: ERROR_FORMAT (another file, or of another byte order), ERROR_VERSION, ERROR_TRUNCATED, ERROR_CORRUPT
 * (unknown records, impossible lengths, histograms that overlap each other or what is there), ERROR_LIMIT, ERROR_SYSTEM,
 * ERROR_MEMORY. */
int gmon_read(struct gmon *gmon, FILE *in, const char *name, struct error *error);

/* Writes what Debian's gprof reads, and finishes the sink. A histogram with counts above 16 bits is several records of its shape; where
 * these would take more than GMON_DENSE_BYTES, records of GMON_SPARSE_BINS bins each, and those without samples are left
 * out (what gprof's -c cannot use, nor add to another file's). ERROR_LIMIT: that is too long as well. */
enum { GMON_DENSE_BYTES = 64 << 20, GMON_SPARSE_BINS = 4096 };
int gmon_write(const struct gmon *gmon, struct sink *out, struct error *error);

#endif
