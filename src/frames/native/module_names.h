/* Names all addresses of one module by its ELF file. */
#ifndef FRAMES_NATIVE_MODULE_NAMES_H
#define FRAMES_NATIVE_MODULE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "frames/native/module_file.h"
#include "frames/provider.h"

/* Gives frames to `count` locations of a module by its open file. They ascend
 * by address and differ. Returns 0, ERROR_MEMORY or ERROR_LIMIT; locations
 * that have frames by then keep them. */
int module_names_set(struct frames_naming *all, struct module_file *file, uint32_t module, const uint32_t *locations,
		     size_t count);

#endif
