/* The parts of `cpprof gprof`: gprof.c (options and reports), gprof_input.c (image and GMONs), gprof_checks.c
 * (warnings about them), call_graph.c (results that need call paths). */
#ifndef CMD_GPROF_H
#define CMD_GPROF_H

#include "analyze/view.h"
#include "cmd/command.h"
#include "gprof/choices.h"
#include "gprof/gmon.h"
#include "gprof/graph.h"
#include "gprof/image.h"
#include "gprof/print.h"

/* The id of an option is its letter. Options without a letter have these ids. */
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
	struct profile *profile; /* owned: the last GMON that is a profile, or NULL */
	const char *profile_path;
	size_t profile_count, gmon_count;
	struct graph graph;
	bool has_output; /* something was printed */
};

/* Opens the image and reads the GMONs that the arguments name. Prints a message on failure. Returns an exit status. */
int gprof_read_input(struct gprof_run *run);

/* Prints warnings on standard error, one per line. The graph must be made. */
void gprof_check(const struct gprof_run *run);

/* Prints the call graph and its index to standard output. `has_output`: another report was printed before. Returns
 * an exit status. */
int call_graph_print(const struct invocation *invocation, const struct profile *profile,
		     const struct view_options *options, const struct print_options *print, bool has_output);

/* Prints one line on standard error: the largest error of gprof's assumption that all calls of a function cost the
 * same. Prints nothing if calls were not counted. Returns an exit status. */
int call_graph_print_error(const struct invocation *invocation, const struct profile *profile,
			   const struct view_options *options);

#endif
