/* The options of the loop: its streams, and the facts that it shows. */
#ifndef UI_EXPLORE_OPTIONS_H
#define UI_EXPLORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/code.h"

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

#endif
