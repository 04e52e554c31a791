/* Reads the whole input of an importer whose format refers to later parts of itself. */
#ifndef FORMATS_INPUT_BYTES_H
#define FORMATS_INPUT_BYTES_H

#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"

/* Reads everything into `bytes`, which it initialises, and which the caller releases also after an error. The process's limit of memory
 * (base/memory_limit.h) bounds it. Returns 0 or a negative error, and then sets `error`: "cannot read 'NAME': ...". */
int input_bytes_read(struct buffer *bytes, FILE *in, const char *name, struct error *error);

#endif
