/*
 * The extents of code for which neither a symbol with a size nor .eh_frame gives one: assembler, usually. A symbol
 * without a size names code up to the first of these: the next symbol; the end of its section; the start or end of a
 * function that has an extent; CODE_EXTENT_MOST bytes. Where the file has only the symbols for the dynamic linker,
 * most functions have none, so a symbol names its code only to where control leaves it. Code behind these ends has a
 * name of its own, by the start of the function that contains it as the code shows.
 */
#ifndef FRAMES_NATIVE_CODE_EXTENT_H
#define FRAMES_NATIVE_CODE_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/native/module_file.h"
#include "frames/native/symbols.h"

/* The largest of 1,543 such functions of libx264 has 2,672 bytes. */
enum { CODE_EXTENT_MOST = 4096 };

/* The last results, since addresses ascend. {0}: none. */
struct code_extents {
	uint64_t symbol, symbol_end; /* of the last symbol without a size */
	uint64_t begin;              /* where the search for the last range began */
	uint64_t range, range_end;   /* the last range */
};

/* Returns whether the symbol before an address names it, though the symbol's size does not contain it. */
bool code_extent_names(struct code_extents *extents, struct module_file *file, const struct symbol_match *match,
		       uint64_t address);

/* Returns the start of the function that contains an address which no symbol names: from .eh_frame, otherwise as the
 * code shows. Returns `address` if the code cannot be read. */
uint64_t code_extent_start(struct code_extents *extents, struct module_file *file, const struct symbol_match *match,
			   uint64_t address);

#endif
