/*
 * The files of a recording's modules, opened when the module first occurs: they are still there
 * when addresses get names, even if they were deleted or replaced meanwhile. The monitor thread
 * opens them, the naming thread reads them.
 */
#ifndef COLLECT_LIVE_MODULE_FILES_H
#define COLLECT_LIVE_MODULE_FILES_H

#include <pthread.h>
#include <stddef.h>

#include "base/error.h"
#include "frames/frames.h"
#include "profile/profile.h"

struct module_files {
	pthread_mutex_t lock;
	struct module_opened *items; /* owned; by module */
	size_t count, capacity;
};

void module_files_init(struct module_files *files);
void module_files_release(struct module_files *files);

/* Opens the files of the modules that the profile gained since the last call, by
 * names->open_module, and lists of generated code that were not there before. Returns 0 or
 * ERROR_MEMORY. A file that cannot be opened is not an error here. */
int module_files_open(struct module_files *files, const struct profile *profile, const struct frames_options *names);

/* Returns a descriptor of a module's file, which the caller closes; or a negative error, with `error` set. */
int module_files_get(struct module_files *files, uint32_t module, struct error *error);

#endif
