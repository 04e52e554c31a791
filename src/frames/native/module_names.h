/* Names all addresses of one module from its ELF file. */
#ifndef FRAMES_NATIVE_MODULE_NAMES_H
#define FRAMES_NATIVE_MODULE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "frames/native/module_file.h"
#include "frames/provider.h"

/* Gives frames to `count` locations of a module from its open file. The locations are distinct and ascend by
 * address. Returns 0, ERROR_MEMORY or ERROR_LIMIT; on error, locations that have got frames keep them. */
int module_names_set(struct frames_naming *all, struct module_file *file, uint32_t module, const uint32_t *locations,
		     size_t count);

#endif
