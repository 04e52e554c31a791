/* Names and lines of a Go program that was linked without symbols, from the table of its runtime (elf/go_table.h). */
#ifndef FRAMES_NATIVE_GO_NAMES_H
#define FRAMES_NATIVE_GO_NAMES_H

#include "elf/go_table.h"
#include "frames/native/module_file.h"
#include "frames/native/scopes.h"
#include "frames/native/symbols.h"

struct go_names {
	struct go_table table;
	bool is_open; /* false: the file has no such table, and the functions below find nothing */
};

void go_names_open(struct go_names *names, struct module_file *file);
/* Sets matches[i].covering for the addresses that no symbol covers. Its name is valid until module_file_close. */
void go_names_match(const struct go_names *names, const uint64_t *addresses, size_t count,
		    struct symbol_match *matches);
/* Sets the place of an address whose place is unknown. Its file is valid until module_file_close. */
void go_names_place(const struct go_names *names, uint64_t address, struct source_place *place);

#endif
