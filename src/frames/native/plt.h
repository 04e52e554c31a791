/* Names the stubs through which a module calls other modules. */
#ifndef FRAMES_NATIVE_PLT_H
#define FRAMES_NATIVE_PLT_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/native/module_file.h"

/* Returns whether an address is in a PLT. Sets *symbol to the target of its stub, valid until the file is closed, or
 * to NULL for the common first stub and unknown targets. */
bool plt_find(struct module_file *file, uint64_t address, const char **symbol);

/* Returns the symbol whose address the dynamic linker stores in a slot of the GOT, or NULL. Then *address is an address in the file that it
 * stores there, or that the linker has; 0: unknown. */
const char *plt_slot_symbol(struct module_file *file, uint64_t slot, uint64_t *address);

#endif
