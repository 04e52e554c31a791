/* Properties of modules that follow from their paths in the target. */
#ifndef PROFILE_MODULE_NAME_H
#define PROFILE_MODULE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

/* Returns the length of a module's path without the " (deleted)" that the kernel appends to the path of an unlinked file. */
size_t module_path_length(const char *path);

/* Returns the part of a module's name that its functions without symbols have in their names: the last component of
 * `path`, without " (deleted)". The result points into `path`; *length is its length. */
const char *module_name(const char *path, size_t *length);

/* Whether the file's name is the name of the C library or a part of it, or of its dynamic linker. */
bool module_name_is_c_library(const char *path);
bool module_name_is_dynamic_linker(const char *path);

/* The name of the module, of kind MODULE_KERNEL, whose locations are addresses in the kernel. The other modules of this
 * kind have one location, at address 0. */
#define MODULE_NAME_KERNEL "[kernel]"

/* Whether the locations of a module are addresses in the kernel. */
bool module_is_kernel_code(const struct profile *profile, uint32_t module);

/* Whether a module is the kernel's: its code, or its work without a user stack. */
bool module_is_kernel(const struct profile *profile, uint32_t module);

/* Whether the file's name is the name of libcpprof, which runs inside a measured process. */
bool module_name_is_agent(const char *path);

#endif
