/* The types of a function's integer arguments and of its return value, from DWARF. */
#ifndef FRAMES_NATIVE_VALUE_TYPE_H
#define FRAMES_NATIVE_VALUE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/native/module_file.h"

/* An integer, a pointer or an enumeration, in the low bytes of its register; the upper bytes are undefined. */
struct value_type {
	uint8_t bytes; /* 1, 2, 4 or 8; 0: the type is unknown, or the value is no such value */
	bool is_signed;
};

/* Sets *type to the type of the integer argument `argument` (from 1 on; arguments in floating point registers and on
 * the stack do not count) of the function that begins at `address`, or of its return value if `argument` is 0. It is
 * unknown if there is no debug information, or if a structure is passed by value before that argument. Returns 0 or
 * ERROR_MEMORY. */
int value_type_find(struct module_file *file, uint64_t address, unsigned argument, struct value_type *type);

#endif
