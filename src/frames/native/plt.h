/* Names the stubs through which a module calls other modules. */
#ifndef FRAMES_NATIVE_PLT_H
#define FRAMES_NATIVE_PLT_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/native/module_file.h"

/* Returns whether an address is in a PLT. Sets *symbol to the target of its stub, valid until the file is closed, or
 * to NULL for the common first stub and unknown targets. */
bool plt_find(struct module_file *file, uint64_t address, const char **symbol);

/* Returns the symbol whose address the dynamic linker stores in a slot of the GOT, or NULL. */
const char *plt_slot_symbol(struct module_file *file, uint64_t slot);

#endif
