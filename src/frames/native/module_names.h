/* Names all addresses of one module from its ELF file. */
#ifndef FRAMES_NATIVE_MODULE_NAMES_H
#define FRAMES_NATIVE_MODULE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "frames/native/module_file.h"
#include "frames/provider.h"

/* Adds the frames of all locations of a request from the module's open file. Returns 0 or a negative error. */
int module_names_add(const struct frames_request *request, struct module_file *file, struct naming_answer *answer);

#endif
