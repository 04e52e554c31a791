/* Where the parts of cpprof are that a program is built with: beside this program, or where it was installed. */
#ifndef COLLECT_SOURCE_COMPILE_INSTALLED_H
#define COLLECT_SOURCE_COMPILE_INSTALLED_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

struct installed {
	char profiler[PATH_MAX];       /* cpprof/profiler.h */
	char library[PATH_MAX];        /* libcpprof.so */
	char static_library[PATH_MAX]; /* libcpprof.a */
	char library_folder[PATH_MAX];
	bool is_searched; /* the dynamic linker looks there by itself */
};

/* 0; ERROR_NOT_FOUND: *error says what is missing. */
int installed_find(struct installed *installed, struct error *error);

#endif
