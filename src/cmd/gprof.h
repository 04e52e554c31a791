/* `cpprof gprof`, its parts: gprof.c (options and reports), gprof_input.c (image and GMONs), gprof_checks.c (what is odd
 * about them), call_graph.c (what only call paths know). */
#ifndef CMD_GPROF_H
#define CMD_GPROF_H

#include "cmd/command.h"
#include "gprof/choices.h"
#include "gprof/gmon.h"
#include "gprof/graph.h"
#include "gprof/image.h"
#include "gprof/print.h"

/* The options' ids are their letters; of those without one: */
enum {
	GPROF_INLINE_FILES = 256,
	GPROF_DEMANGLE,
	GPROF_NO_DEMANGLE,
	GPROF_NO_ERRORS,
	GPROF_CLONES,
	GPROF_TRUE,
	GPROF_RESOURCE,
};

struct gprof_run {
	struct invocation *invocation;
	struct image_options image_options;
	struct print_options print;
	struct choices choices;
	bool shows_files; /* -i */
	bool scans;       /* -c */
	bool wants_truth; /* --true */
	struct image image;
	struct gmon gmon;
	bool has_image;
	struct profile *profile; /* owned; where a GMON is one: the last such */
	const char *profile_path;
	size_t profile_count, gmon_count;
	struct graph graph;
	bool has_output; /* -i has printed something */
};

/* Opens the image and reads the GMONs that the arguments name. An exit status; says what failed. */
int gprof_read_input(struct gprof_run *run);

/* Warnings: each is a line on standard error. The graph is made. */
void gprof_check(const struct gprof_run *run);

#endif
