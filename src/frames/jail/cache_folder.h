/* The folder in which elfutils' debuginfod client keeps what it has downloaded. */
#ifndef FRAMES_JAIL_CACHE_FOLDER_H
#define FRAMES_JAIL_CACHE_FOLDER_H

#include "base/error.h"

/* Makes the folder if it is missing: DEBUGINFOD_CACHE_PATH or, as the client chooses it, one below XDG_CACHE_HOME or HOME. Sets
 * DEBUGINFOD_CACHE_PATH to its path without symbolic links. Root refuses a folder in which, or on the way to which, another user
 * could replace files. Returns 0 or a negative error. */
int cache_folder_prepare(struct error *error);

#endif
