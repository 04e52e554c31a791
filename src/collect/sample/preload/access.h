/* Checks whether the agent can be loaded into a command, and finds its library. */
#ifndef COLLECT_SAMPLE_PRELOAD_ACCESS_H
#define COLLECT_SAMPLE_PRELOAD_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "resources/resources.h"

/* Finds the library to preload, beside this program as it was built, or installed. Returns 0,
 * ERROR_NOT_FOUND, or ERROR_UNSUPPORTED if the dynamic linker does not accept the path. */
int preload_access_library(char *path, size_t bytes, struct error *error);

/* The same relative to the path `program`, which may have any form. */
int preload_access_library_of(const char *program, char *path, size_t bytes, struct error *error);

/* Returns 0 if the dynamic linker of the command in this file, or of the interpreter of this script, will
 * load the library, otherwise ERROR_UNSUPPORTED with the remedy. `from_inside`: only the agent can measure
 * the request, so the remedy names no other backend. */
int preload_access_command(const char *path, bool from_inside, struct error *error);

/* The same two for the library with the compiler's hooks, which may also be linked into a static program. */
int preload_access_hooks_library(char *path, size_t bytes, struct error *error);
int preload_access_hooks_command(const char *path, struct error *error);
/* The same for the library that makes the C library's functions probe points. It is loaded before the
 * library with the hooks, because it calls functions that the latter interposes. */
int preload_access_wrap_library(char *path, size_t bytes, struct error *error);
/* The same for the library that a Java virtual machine loads; builds without its headers do not have it. */
int preload_access_jvm_library(char *path, size_t bytes, struct error *error);
/* Returns whether the command, or the interpreter of this script, is linked with that library
 * (-lcpprof-wrap). */
bool preload_access_has_wrap(const char *path);

/* Returns 0 if the agent can count the resource, otherwise ERROR_UNSUPPORTED with the backends that can. */
int preload_access_resource(const struct resource_request *request, struct error *error);

#endif
