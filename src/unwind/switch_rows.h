/* Rows for calls that CFI does not describe: those that change stacks in a Go program, and those of Lisp in SBCL's runtime. */
#ifndef UNWIND_SWITCH_ROWS_H
#define UNWIND_SWITCH_ROWS_H

#include "elf/elf_file.h"
#include "unwind/unwind.h"

/* Replaces the rows of these calls in a table whose rows are complete and whose pages are not made yet. Does nothing
 * for programs without such calls. Returns 0 or ERROR_MEMORY. */
int switch_rows_add(struct unwind_table *table, struct elf_file *file);

#endif
