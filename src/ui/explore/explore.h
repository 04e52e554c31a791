/*
 * The interactive loop of the 1993 paper: commands are read, one a line, and
 * answered with reports, until `quit` or the end of the input. Nothing that
 * the user types ends it otherwise.
 *
 * The commands are the rows of a table (ui/explore/command.h); `help` and the
 * completion come from it.
 */
#ifndef UI_EXPLORE_EXPLORE_H
#define UI_EXPLORE_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

struct explore_options {
	const char *file;    /* name of the profile's file, for the first line and `info`; not NULL */
	uint64_t file_bytes; /* its size, for `info`; 0: unknown */
	FILE *in;            /* commands; read plainly, line by line, unless interactive */
	FILE *out;           /* reports */
	FILE *err;           /* complaints */
	/* in and out are terminals: a prompt, line editing, history, completion
	 * and ^C, which then ends the current line or report and not the loop. */
	bool interactive;
	bool colour; /* options of the reports */
};

/* Runs the loop. Returns 0; or, not interactive, the number of commands that
 * failed (a positive number: the exit status is then 1); or ERROR_MEMORY, with
 * `error` filled in, if it could not start. A report that cannot be written is
 * a command that failed, except for a reader of `out` that went away: that
 * ends the loop like the end of the input.
 *
 * While it runs SIGPIPE is ignored and, if interactive, SIGINT is caught; both
 * are as before when it returns. The profile stays the caller's. */
int explore_run(struct profile *profile, const struct explore_options *options, struct error *error);

/* The commands as a table of text, one a line: for the manual and --help. */
void explore_print_commands(FILE *out);

#endif
