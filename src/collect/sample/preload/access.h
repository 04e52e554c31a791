/* Whether the runtime can be loaded into a command, and from where. */
#ifndef COLLECT_SAMPLE_PRELOAD_ACCESS_H
#define COLLECT_SAMPLE_PRELOAD_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "resources/resources.h"

/* Where the library to be preloaded is: beside this program as it was built, or installed.
 * ERROR_NOT_FOUND; ERROR_UNSUPPORTED: the dynamic linker takes no such path. */
int preload_access_library(char *path, size_t bytes, struct error *error);

/* The same for a program as it is, in a path that may be any. */
int preload_access_library_of(const char *program, char *path, size_t bytes, struct error *error);

/* Whether the dynamic linker of the command in this file, or of the interpreter of this
 * script, will load it: 0, or ERROR_UNSUPPORTED and what else would do. `from_inside`: what is
 * asked for is seen from inside alone, so that other backends would not. */
int preload_access_command(const char *path, bool from_inside, struct error *error);

/* The same two for the library with the compiler's hooks, which a statically linked program may have in it. */
int preload_access_hooks_library(char *path, size_t bytes, struct error *error);
int preload_access_hooks_command(const char *path, struct error *error);
/* The one with the C library's functions as places, which stands before that: it calls what that interposes. */
int preload_access_wrap_library(char *path, size_t bytes, struct error *error);
/* Whether the command, or the interpreter of this script, is linked with it (-lcpprof-wrap). */
bool preload_access_has_wrap(const char *path);

/* Whether the resource is seen from the inside: 0, or ERROR_UNSUPPORTED and who sees it. */
int preload_access_resource(const struct resource_request *request, struct error *error);

#endif
