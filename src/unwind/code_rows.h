/*
 * Rows for code without unwind information, such as musl's functions and hand-written assembler, from the code itself.
 *
 * From a function's start on, where the return address is at the stack pointer, its instructions are followed along all branches. Each
 * has an effect on the stack pointer and the frame pointer (arch/stack_effect.h). A function gets rows only if that is consistent:
 * all ways to an instruction lead to the same state, each return is reached with the stack pointer and the frame pointer of the
 * beginning, and there is one. So its rows are as exact as unwind information. Other code gets none.
 */
#ifndef UNWIND_CODE_ROWS_H
#define UNWIND_CODE_ROWS_H

#include "elf/elf_file.h"
#include "unwind/unwind.h"

/* Adds rows to a table whose rows are complete and whose pages are not made yet. Returns 0 or ERROR_MEMORY. */
int code_rows_add(struct unwind_table *table, struct elf_file *file);

#endif
