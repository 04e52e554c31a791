/*
 * Finds the symbol that names an address. One pass over a module's symbols serves all its addresses.
 *
 * A symbol with a size names the addresses in it. A symbol without a size (assembler) may name the addresses up to
 * the next symbol (code_extent.h). Among several symbols with one start, the order of preference is: a function before
 * an untyped label; a global or weak name before a local one; the name with the fewest leading underscores (`read`
 * before `__read` and `__libc_read`); global before weak; the shortest; the first in byte order. The choice does not
 * depend on the order of the table.
 */
#ifndef FRAMES_NATIVE_SYMBOLS_H
#define FRAMES_NATIVE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames/native/module_file.h"

struct symbol {
	const char *name; /* NULL: no symbol; valid until module_file_close */
	uint64_t start;
	uint64_t size;
	uint32_t scope;  /* local symbols: number of the source file, from 1; global symbols: 0 */
	uint8_t type;    /* STT_... */
	uint8_t binding; /* STB_... */
};

struct symbol_match {
	struct symbol covering; /* the symbol has a size and contains the address */
	struct symbol nearest;  /* the last symbol that begins at or before the address in its section */
	uint64_t begin;         /* end of the last symbol with a size before the address, or start of its section */
};

/* Fills in matches[i] for addresses[i]; the addresses are distinct and ascending. A clone (`parse.cold`) of a global
 * function gets the scope of that function, 0. Returns 0 or ERROR_MEMORY. A file without symbols matches nothing. */
int symbols_match(struct module_file *file, const uint64_t *addresses, size_t count, struct symbol_match *matches);

#endif
