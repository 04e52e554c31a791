/* The name of a recording's file, which may depend on the process that records: of a parallel job, each rank has a recorder. */
#ifndef CMD_OUTPUT_NAME_H
#define CMD_OUTPUT_NAME_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends `name` and a NUL, with the rank of this process for "%r", its id for "%p", its host's name for "%h", and "%" for "%%". A '%' before
 * any other character stays. Returns 0, ERROR_USAGE if no launcher has stated the rank, or ERROR_SYSTEM. buffer_error has the
 * failures of memory. */
int output_name_append(struct buffer *expanded, const char *name, struct error *error);

/* Returns the rank of this process, by the environment that its launcher made; or NULL if it has none. Slurm also sets its variable for
 * a batch script, which is no rank; it counts only if `name` has "%r". */
const char *output_name_rank(const char *name);

#endif
