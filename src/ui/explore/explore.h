/*
 * The interactive loop of the 1993 paper: reads commands, one per line, and prints reports, until `quit` or the end
 * of the input. No other input ends it.
 *
 * The commands are the rows of a table (ui/explore/command.h); `help` and the completion are derived from it.
 */
#ifndef UI_EXPLORE_EXPLORE_H
#define UI_EXPLORE_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/code.h"
#include "profile/profile.h"

struct explore_options {
	const char *file;    /* name of the profile's file, for the first line and `info`; not NULL */
	uint64_t file_bytes; /* its size, for `info`; 0: unknown */
	FILE *in;            /* commands; read line by line without editing unless interactive */
	FILE *out;           /* reports */
	FILE *err;           /* error messages */
	/* in and out are terminals: there is a prompt, line editing, history and completion, and ^C ends the current
	 * line or report, not the loop. */
	bool interactive;
	bool colour;                    /* reports are coloured */
	int columns;                    /* of the terminal that `out` is: reports fit into it; 0: rows of any length */
	const struct code_source *code; /* of the command asm; NULL: there is none */
};

/* Runs the loop. Returns 0; or, if not interactive, the number of commands that failed (if positive, the exit status
 * is 1); or a negative error, such as ERROR_MEMORY, and sets `error` if it could not start. A command fails if its
 * report cannot be written. But if the reader of `out` has gone away, the loop ends as at the end of the input.
 *
 * While the loop runs, SIGPIPE does not end the process and, if interactive, SIGINT is caught; both are restored
 * before it returns. The caller keeps the profile. */
int explore_run(struct profile *profile, const struct explore_options *options, struct error *error);

/* Prints the table of commands, one per line: for the manual and --help. */
void explore_print_commands(FILE *out);

#endif
