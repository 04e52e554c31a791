/* Names of the stubs through which a module calls other modules. */
#ifndef FRAMES_NATIVE_PLT_H
#define FRAMES_NATIVE_PLT_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/native/module_file.h"

/* Returns whether an address lies in a PLT. *symbol: the target of its stub,
 * valid until the file is closed; NULL: the common first stub, or unknown. */
bool plt_find(struct module_file *file, uint64_t address, const char **symbol);

#endif
