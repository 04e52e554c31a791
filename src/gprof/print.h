/*
 * The reports of gprof, in its layout: what other programs parse. Each is one function that takes all there is, so that
 * the command has one table of them.
 */
#ifndef GPROF_PRINT_H
#define GPROF_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "gprof/choices.h"
#include "gprof/gmon.h"
#include "gprof/graph.h"
#include "gprof/image.h"

struct print_options {
	bool brief;        /* -b: no explanations */
	bool traditional;  /* -T: as BSD's gprof */
	bool all_symbols;  /* -z: also what was never called and has no time */
	bool by_line;      /* -l: the symbols are lines */
	bool inline_files; /* --inline-file-names */
	bool full_paths;   /* -L */
	bool no_errors;    /* --no-errors: the flat profile has no column of them */
	bool exact_times;  /* times are counted, not sampled: they have no error */
	unsigned width;    /* -w: of the index, 80 */

	/* Of the annotated source and of execution counts. */
	bool all_lines;             /* -x */
	bool separate_files;        /* -y */
	unsigned table_length;      /* -t: 10 */
	uint64_t min_count;         /* -m */
	const char *const *folders; /* -I, NULL-terminated */
	const char *map_file;       /* -R */
};

struct gprof_report {
	FILE *out;
	struct graph *graph;       /* solved */
	const struct image *image; /* NULL: of a profile */
	const struct gmon *gmon;   /* NULL: of a profile */
	const struct choices *choices;
	const struct print_options *options;
	bool has_output; /* something was printed already: what follows begins on a new page */
};

/* 0, or ERROR_MEMORY, ERROR_NOT_FOUND, ... with a sentence. */
typedef int print_function(struct gprof_report *report, struct error *error);

print_function print_flat;  /* -p */
print_function print_graph; /* -q: with its index */

/* Parts that reports share. Begins a new page but for the first report. */
void print_page(struct gprof_report *report);
/* "fib", with -l "fib (fib.c:12 @ 1139)"; returns its length. */
int print_name_alone(struct gprof_report *report, uint32_t node);
/* ... and "<cycle 2> [13]". */
void print_name(struct gprof_report *report, uint32_t node);
/* What an arc, a function's line or its being called is to the options: neither called nor with time, and no -z. */
bool print_is_unused(const struct gprof_report *report, uint32_t node);

#endif
