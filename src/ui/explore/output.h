/* The output of one command's report: the loop's output, or a shell command's
 * input. After ^C the stream accepts no more bytes, so that a long report can
 * be cut short. */
#ifndef UI_EXPLORE_OUTPUT_H
#define UI_EXPLORE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct output {
	FILE *stream;      /* the stream that a command writes to */
	FILE *target;      /* its destination: `out`, or the pipe */
	bool is_pipe;      /* target is the shell's and is closed at the end */
	bool stopped;      /* ^C, or the reader went away */
	int write_failure; /* errno of the first failed write otherwise */
};

/* `shell`: NULL, or the command to pipe into. Returns 0 or a negative error. */
int explore_output_open(struct output *output, FILE *out, const char *shell, struct error *error);

/* Flushes, and waits for the shell command. Returns 0 (also if the reader of a
 * pipe took only part of it), or a negative error: of writing, or because the
 * shell could not run its command. `gone` becomes true if `out` itself has no
 * reader any more. */
int explore_output_close(struct output *output, bool *gone, struct error *error);

#endif
