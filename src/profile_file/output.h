/*
 * Where a profile goes: a file that gets its name only once it is worth it, or
 * a stream.
 *
 *   output_open --> temporary file beside PATH --output_publish--> PATH, the older one is PATH.old
 *               `-> stream: a pipe, a device, standard output (publish does nothing)
 *
 * output_write adds bytes that belong together: if they do not fit, the file
 * is cut back to where they began.
 */
#ifndef PROFILE_FILE_OUTPUT_H
#define PROFILE_FILE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct output;

struct output *output_open(const char *path, struct error *error); /* NULL: `error` says why */
void output_free(struct output *output);                           /* NULL is fine; an unpublished file is removed */

int output_publish(struct output *output, struct error *error);
int output_write(struct output *output, const void *bytes, size_t size, struct error *error);
/* Closes the file, so that errors which only show then are reported. */
int output_close(struct output *output, struct error *error);

bool output_is_stream(const struct output *output);
uint64_t output_size(const struct output *output);

#endif
