/*
 * Which symbol names an address. One pass over a module's symbols serves all
 * of its addresses.
 *
 * A symbol with a size names the addresses inside of it. A symbol without one
 * (assembler) may name what lies between it and the next symbol. Among several
 * that begin at one address the choice is, in this order: a function before
 * an untyped label; a global or weak name before a local one; the name with
 * the fewest leading underscores (`read` before `__read` and `__libc_read`);
 * global before weak; the shortest; the first in byte order. So it does not
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
	uint32_t scope;  /* local symbols: which source file's, from 1; global ones: 0 */
	uint8_t type;    /* STT_... */
	uint8_t binding; /* STB_... */
};

struct symbol_match {
	struct symbol covering; /* has a size, and the address lies inside */
	struct symbol nearest;  /* begins last at or before the address, in the same section */
};

/* Fills in matches[i] for addresses[i]; the addresses ascend and differ.
 * A clone (`parse.cold`) of a global function gets that function's scope, 0.
 * Returns 0 or ERROR_MEMORY. A file without symbols matches nothing. */
int symbols_match(struct module_file *file, const uint64_t *addresses, size_t count, struct symbol_match *matches);

#endif
