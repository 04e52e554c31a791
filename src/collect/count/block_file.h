/* The lines of one module's blocks, computed in a jail (frames/jail/once.h): its owner may have forged the file. */
#ifndef COLLECT_COUNT_BLOCK_FILE_H
#define COLLECT_COUNT_BLOCK_FILE_H

#include "base/error.h"
#include "collect/count/block_lines.h"
#include "profile/profile.h"

/* As block_lines_read, for the file of a module, which the caller has opened as `fd` and closes. A file that could not be opened (-1), or has
 * another build-id than the module, has no lines. Returns 0, or with `error` set: ERROR_MEMORY; ERROR_LIMIT or ERROR_CORRUPT (the jail exceeded a
 * limit, or ended), or ERROR_UNSUPPORTED (there is no jail for another user's file). */
int block_file_lines(struct block_lines *lines, int fd, const char *path, const struct profile_module *module,
		     const struct flow_count *counts, size_t count, struct error *error);

#endif
