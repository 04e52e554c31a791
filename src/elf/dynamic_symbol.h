/* The symbols that an ELF file exports, by their hash table: one look-up reads some cache lines of a file of any size. */
#ifndef ELF_DYNAMIC_SYMBOL_H
#define ELF_DYNAMIC_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct dynamic_symbol {
	uint64_t address; /* ELF virtual address */
	uint64_t size;
	uint8_t type; /* STT_... */
};

/* The tables of one file, for several look-ups. */
struct dynamic_symbols {
	struct elf_bytes hash, symbols, names;
	struct elf_bytes versions; /* may be missing */
};

/* Reads the tables. Returns false if the file lacks one of them: it exports nothing, or has no section headers. */
bool dynamic_symbols_open(struct dynamic_symbols *symbols, struct elf_file *file);

/* Releases the memory of the tables. */
void dynamic_symbols_close(const struct dynamic_symbols *symbols, struct elf_file *file);

/* Sets *symbol to a defined symbol: of several versions, to the default one. Returns false if there is none, or the tables have an error. */
bool dynamic_symbols_find(const struct dynamic_symbols *symbols, const char *name, struct dynamic_symbol *symbol);

#endif
