/* The reports of gprof, in its layout, which other programs parse. Each report is a function of the same type, so
 * that the command has one table of them. */
#ifndef GPROF_PRINT_H
#define GPROF_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "gprof/choices.h"
#include "gprof/gmon.h"
#include "gprof/graph.h"
#include "gprof/image.h"
#include "gprof/truth.h"

struct print_options {
	bool brief;        /* -b: no explanations */
	bool traditional;  /* -T: like BSD's gprof */
	bool all_symbols;  /* -z: also functions without calls and time */
	bool by_line;      /* -l: the symbols are lines */
	bool inline_files; /* --inline-file-names */
	bool full_paths;   /* -L */
	bool no_errors;    /* --no-errors: the flat profile has no column of errors */
	bool true_times;   /* times follow from call paths, not from counts */
	bool exact_times;  /* times are counted, not sampled: they have no error */
	unsigned width;    /* -w: width of the index, 80 */

	/* For the annotated source and execution counts. */
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
	const struct image *image; /* NULL if the report is about a profile */
	const struct gmon *gmon;   /* NULL if the report is about a profile */
	const struct choices *choices;
	const struct print_options *options;
	bool has_output; /* a report was printed before: the next one begins on a new page */
};

/* Prints a report. Returns 0, or ERROR_MEMORY, ERROR_NOT_FOUND, ..., with `error` set. */
typedef int print_function(struct gprof_report *report, struct error *error);

print_function print_flat;  /* -p */
print_function print_graph; /* -q */
print_function print_index; /* ... and the index behind it */

/* Prints the call graph with the times of call paths, and its index. `has_output`: a report was printed before.
 * Returns 0, or a negative error with `error` set. */
int print_truth(const struct truth *truth, FILE *out, const struct print_options *options, bool has_output,
		struct error *error);

/* Parts that reports share. print_page begins a new page, except for the first report. */
void print_page(struct gprof_report *report);
/* Prints a name from a file, without escape sequences. */
void print_text(struct gprof_report *report, const char *text);
/* Prints "fib", or "fib (fib.c:12 @ 1139)" with -l. Returns its length. */
int print_name_alone(struct gprof_report *report, uint32_t node);
int print_name_width(const struct gprof_report *report, uint32_t node);
/* ... and prints "<cycle 2> [13]" behind it. */
void print_name(struct gprof_report *report, uint32_t number);
/* Returns the part of a source file's path that the options select: the last component, or all of it. */
const char *print_source_name(const struct gprof_report *report, const char *path);
/* Prints "granularity: each sample hit covers ..." for a number of samples. */
void print_granularity(struct gprof_report *report, double samples, double seconds, const char *what);
/* Whether a function was neither called nor sampled, and -z is not given. */
bool print_is_unused(const struct gprof_report *report, uint32_t node);

/*
 * -A: the source, with a count of executions in front of each line (annotate.c).
 *
 *	        1000 -> static int clamp(int value)        the function was called 1000 times
 *	       ##### -> static int unused(void)            ... or never
 *	    1000,998 -> 	for (...)                   -l: the count of each block that begins here
 *	                	total += value;             no block begins here; -x: as above
 *
 * A table of the lines with the largest counts (-t) and a summary of the file follow. With arcs only, functions alone
 * have counts, and these figures are gprof's. If a file's blocks were counted (-l), every line has a count: the count
 * of its most executed block or, if no block begins at the line, the count of the block that continues into it.
 *
 * For a file that is not found, a message replaces the source. Errors: ERROR_MEMORY, ERROR_USAGE (the input is a
 * profile, which has no image) and, with -y, the error of writing a copy.
 */
print_function print_source;

/*
 * -C: the number of calls of each function and, with -l, the number of executions of each block (counts.c).
 *
 *	/src/fib.c:3: (fib:0x1139) 1000 executions
 *	/src/fib.c:5: (fib:0x1150) 1597 executions
 *
 * Sorted by file, line and address. Lines without a file come before or after all others, a function before the blocks
 * of its first line. A function's calls of itself are counted separately, as in the call graph, except with -b:
 * "2 executions, and 12 by itself".
 */
print_function print_counts;

/*
 * -r: the order in which a linker would best arrange functions (order.c).
 *
 * Method: K. Pettis, R. C. Hansen, "Profile Guided Code Positioning", PLDI '90, "closest is best", but chains are
 * never reversed. From the arc with the most calls to the arc with the fewest, the chains of caller and callee are
 * joined, in the order that leaves the two closer together. Then the chains are printed, sorted by their busiest
 * arc; then functions that were called only from outside; then the rest, by address. (binutils' gprof uses a
 * heuristic: its order differs.)
 */
print_function print_function_order;

/*
 * -R: the same for object files: each stands at the position of its first function. The map assigns functions to
 * files, in the format of nm -o:
 *
 * 	parse.o:0000000000001139 T parse_line
 *
 * Errors: ERROR_NOT_FOUND, ERROR_PERMISSION, ... if the map cannot be read; ERROR_FORMAT if no line
 * of it has this form.
 */
print_function print_file_order;

#endif
