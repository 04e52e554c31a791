/*
 * gmon.out: what gprof reads. One per loaded object; addresses are the object's own (ELF virtual addresses). In
 * memory counts have 64 bits, and what came in several records, or in several files, is one.
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
};

struct gmon_block {
	uint64_t address;
	uint64_t count;
};

struct gmon {
	struct gmon_histogram *histograms; /* do not overlap */
	struct gmon_arc *arcs;             /* each (from, self) once, sorted by them */
	struct gmon_block *blocks;         /* each address once, sorted */
	size_t histogram_count, arc_count, block_count;
	size_t histogram_capacity, arc_capacity, block_capacity;
};

void gmon_init(struct gmon *gmon);
void gmon_release(struct gmon *gmon);

/* Adds to what is there. ERROR_MEMORY, ERROR_LIMIT (more than 2^64). Not sorted before gmon_settle. */
int gmon_add_arc(struct gmon *gmon, uint64_t from, uint64_t self, uint64_t count);
int gmon_add_block(struct gmon *gmon, uint64_t address, uint64_t count);
/* A histogram of that shape, or the one of that shape that is there already: its number. Bins are `bytes_per_bin`
 * wide. ERROR_CORRUPT: it overlaps another shape. */
int64_t gmon_add_histogram(struct gmon *gmon, const struct gmon_histogram *shape);
/* Sorts and adds up what is the same. */
int gmon_settle(struct gmon *gmon);

/* Adds a file's records (gmon.out of any length; `name` is for messages) and settles. Errors: ERROR_CORRUPT
 * (truncated, another byte order, a version that is not known, impossible lengths), ERROR_SYSTEM, ERROR_MEMORY; gmon holds
 * then what it held before. */
int gmon_read(struct gmon *gmon, FILE *in, const char *name, struct error *error);
int gmon_write(const struct gmon *gmon, FILE *out, struct error *error);

#endif
