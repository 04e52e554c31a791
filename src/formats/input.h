/* Reads the input of an importer: line by line, or whole. Only the process's limit of memory
 * bounds a line, and the whole (base/memory_limit.h). */
#ifndef FORMATS_INPUT_H
#define FORMATS_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"

/* Calls `read` with each line, which may be changed and has its line feed, until one returns a
 * negative error, which is then returned. `*number` is the number of the present line, from 1
 * on. Returns 0 at the end of the input; if it cannot be read, sets `error`: "cannot read
 * 'NAME': ...". */
int input_lines_read(FILE *in, const char *name, uint64_t *number,
		     int (*read)(void *context, char *line, size_t length), void *context, struct error *error);

/* Reads everything into `bytes`, which it initialises, and which the caller releases also after
 * an error: for a format that refers to later parts of itself. Returns 0 or a negative error,
 * and then sets `error`, as above. */
int input_bytes_read(struct buffer *bytes, FILE *in, const char *name, struct error *error);

#endif
