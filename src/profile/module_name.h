/* Names of modules, from their paths as the process saw them. */
#ifndef PROFILE_MODULE_NAME_H
#define PROFILE_MODULE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The module's name in the names of its nameless functions: the last part of
 * its path, without " (deleted)". Returns a pointer into `path`; sets *length. */
const char *module_name(const char *path, size_t *length);

/* By the file's name: the C library or a part of it; its dynamic linker. */
bool module_name_is_c_library(const char *path);
bool module_name_is_dynamic_linker(const char *path);

/* By the file's name: libcpprof, which runs inside a measured process. */
bool module_name_is_agent(const char *path);

#endif
