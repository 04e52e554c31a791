/*
 * The destination of a profile: a file that gets its name when it is published, or a stream.
 *
 *   output_open --> temporary file beside PATH --output_publish--> PATH, the older one is PATH.old
 *               `-> stream: a pipe, a device, standard output (publish does nothing)
 *
 * Only its owner may read a new file: us, or the user who called sudo. Symbolic links of other users are not followed.
 *
 * output_write adds all of its bytes or none: if they do not fit, the file is cut back to its length before the
 * call.
 */
#ifndef PROFILE_FILE_OUTPUT_H
#define PROFILE_FILE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct output;

struct output *output_open(const char *path, struct error *error); /* on failure: NULL, with `error` set */
struct output *output_to_memory(struct buffer *memory); /* a stream that appends to `memory`; NULL: no memory */
void output_free(struct output *output);                /* NULL is allowed; removes an unpublished file */

int output_publish(struct output *output, struct error *error);
int output_write(struct output *output, const void *bytes, size_t size, struct error *error);
/* Cuts the output back to its first `size` bytes, behind which the next bytes are written. Returns false if that is
 * impossible: it is a stream. */
bool output_cut(struct output *output, uint64_t size);
/* Closes the file, in order to report errors that only closing shows. */
int output_close(struct output *output, struct error *error);

bool output_is_stream(const struct output *output);
uint64_t output_size(const struct output *output);

#endif
