/* A row for the functions of JavaScript that V8's own compiler generates when V8 is built: they are in the program's file, without CFI, and keep
 * frame pointers as the code does that it generates later. */
#ifndef UNWIND_BUILTIN_ROWS_H
#define UNWIND_BUILTIN_ROWS_H

#include "elf/elf_file.h"
#include "unwind/unwind.h"

/* Adds the row to a table whose rows are complete and whose pages are not made yet. Does nothing for other programs. Without the
 * symbols of these functions, the large gaps in the call frame information of a file that exports V8 are taken for them. Returns 0 or ERROR_MEMORY. */
int builtin_rows_add(struct unwind_table *table, struct elf_file *file);

#endif
