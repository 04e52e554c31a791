/* Reads the lines of an importer's input, each bounded only by memory (base/memory_limit.h). */
#ifndef FORMATS_INPUT_LINES_H
#define FORMATS_INPUT_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* Calls `read` with each line, which may be changed and has its line feed, until one returns a negative error, which is then returned.
 * `*number` is the number of the present line, from 1 on. Returns 0 at the end of the input; if it cannot be read, sets `error`: "cannot
 * read 'NAME': ...". */
int input_lines_read(FILE *in, const char *name, uint64_t *number,
		     int (*read)(void *context, char *line, size_t length), void *context, struct error *error);

#endif
