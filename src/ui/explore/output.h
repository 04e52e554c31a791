/* The output of one command's report: the output of the loop, or the input of a shell command. After ^C the stream
 * accepts no more bytes, so that a long report ends. */
#ifndef UI_EXPLORE_OUTPUT_H
#define UI_EXPLORE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/line_wrap.h"

struct output {
	FILE *stream;      /* the stream that a command writes to */
	FILE *target;      /* its destination: `out`, or the pipe */
	bool is_pipe;      /* target is the shell's and is closed at the end */
	bool stopped;      /* ^C was typed, or the reader has gone away */
	int write_failure; /* errno of the first write that failed for another reason */
	struct line_wrap wrap;
};

/* Opens the output. `shell` is the command to pipe into, or NULL. `columns` is the width of the terminal, 0: lines of any length. Returns 0 or a negative error. */
int explore_output_open(struct output *output, FILE *out, const char *shell, int columns, struct error *error);

/* Flushes the output and waits for the shell command. Returns 0 (also if the reader of a pipe did not read all), or
 * a negative error if writing failed or the shell could not run its command. Sets *gone if the reader of `out`
 * itself has gone away. */
int explore_output_close(struct output *output, bool *gone, struct error *error);

#endif
