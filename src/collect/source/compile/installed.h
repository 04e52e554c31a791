/* Positions of the parts of cpprof that programs are built with: beside this
 * program, or in the prefix of the installation. */
#ifndef COLLECT_SOURCE_COMPILE_INSTALLED_H
#define COLLECT_SOURCE_COMPILE_INSTALLED_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

struct installed {
	char profiler[PATH_MAX];       /* cpprof/profiler.h */
	char processor[PATH_MAX];      /* the processor's part of profiler.h */
	char library[PATH_MAX];        /* libcpprof.so */
	char static_library[PATH_MAX]; /* libcpprof.a */
	char library_folder[PATH_MAX];
	bool is_searched; /* the dynamic linker searches the folder anyway */
};

/* Returns 0, or ERROR_NOT_FOUND with the missing part in *error. */
int installed_find(struct installed *installed, struct error *error);

#endif
