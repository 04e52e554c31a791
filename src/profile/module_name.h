/* Properties of modules that follow from their paths in the target. */
#ifndef PROFILE_MODULE_NAME_H
#define PROFILE_MODULE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of a module's path without the " (deleted)" that the kernel appends to the path of an unlinked file. */
size_t module_path_length(const char *path);

/* Returns the part of a module's name that its functions without symbols have in their names: the last component of
 * `path`, without " (deleted)". The result points into `path`; *length is its length. */
const char *module_name(const char *path, size_t *length);

/* Whether the file's name is that of the C library or a part of it, or that of its dynamic linker. */
bool module_name_is_c_library(const char *path);
bool module_name_is_dynamic_linker(const char *path);

/* Whether the file's name is that of libcpprof, which runs inside a measured process. */
bool module_name_is_agent(const char *path);

#endif
