/* Rows for the calls that change stacks in a Go program, whose CFI does not describe that. */
#ifndef UNWIND_SWITCH_ROWS_H
#define UNWIND_SWITCH_ROWS_H

#include "elf/elf_file.h"
#include "unwind/unwind.h"

/* Replaces the rows of these calls in a table whose rows are complete and whose pages are not made yet. Does nothing
 * for other programs. Returns 0 or ERROR_MEMORY. */
int switch_rows_add(struct unwind_table *table, struct elf_file *file);

#endif
