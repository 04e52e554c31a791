/* Interfaces between the files that make the rows of a table (table.c). */
#ifndef UNWIND_PARTS_H
#define UNWIND_PARTS_H

#include "base/buffer.h"
#include "elf/elf_file.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

/*
 * fde_list.c: the FDEs of a file that make rows: those inside the text, sorted, without overlaps. Life cycle: zeroed,
 * fde_list_read once for each section, fde_list_sort, fde_list_release.
 */

struct fde_item {
	uint32_t start; /* minus base */
	uint32_t size;
	struct cfi_position position;
};

struct fde_list {
	struct fde_item *items; /* owned */
	size_t count;
	size_t capacity;
	uint64_t base; /* set by the caller: the text range */
	uint64_t end;
};

void fde_list_release(struct fde_list *list);

/* Adds the FDEs of a section to the list, with the number `part` of the section in unwind_cfi.parts. Counts damaged
 * FDEs and those outside of the text in *skipped. Passes the section's CIEs to the caller in *cies, also on
 * failure; the caller frees them. Returns 0 or ERROR_MEMORY. */
int fde_list_read(struct fde_list *list, const struct cfi_section *section, unsigned part, struct cfi_cie **cies,
		  size_t *cie_count, uint64_t *skipped);

/* Sorts, and assigns each address to one FDE: .eh_frame precedes .debug_frame, and of two overlapping FDEs the FDE
 * that starts later wins, as in the language runtimes' search of .eh_frame_hdr. Returns 0 or ERROR_MEMORY. */
int fde_list_sort(struct fde_list *list);

/* table.c: the rows of the functions in a range of ELF virtual addresses, as .eh_frame alone describes them, without rows from code. The table
 * begins and ends with functions that are partly in the range. Returns NULL if they cannot be found by .eh_frame_hdr, or if there is no memory. */
struct unwind_table *unwind_table_of_range(struct elf_file *file, uint64_t low, uint64_t high);

/* go_frame.c: a .debug_frame for a Go program that was linked or stripped without one, from the runtime's own table (elf/go_table.h). */

/* Appends the section, or nothing if the file has no such table, or if the processor's calls do not push the return address. Returns 0 or
 * ERROR_MEMORY. */
int go_frame_append(struct buffer *section, struct elf_file *file);

/* row_insert.c: rows for code that the CFI describes wrongly or not at all. */

/* Puts a row for the code from `start` up to `end` (both minus the table's base) between the two
 * parts of the row that covers it, in a table whose pages are not made yet. Does nothing if no
 * single row covers it. Returns 0 or ERROR_MEMORY. */
int row_insert(struct unwind_table *table, uint32_t start, uint32_t end, const struct unwind_row *row);

/* switch_rows.c: rows for calls that CFI does not describe: the calls that change stacks in a Go
 * program, and the calls of Lisp in SBCL's runtime. */

/* Replaces the rows of these calls in a table whose rows are complete and whose pages are not made yet. Does nothing
 * for programs without such calls. Returns 0 or ERROR_MEMORY. */
int switch_rows_add(struct unwind_table *table, struct elf_file *file);
/* Returns whether a file may have such calls. */
bool switch_rows_may_be_in(struct elf_file *file);

/* builtin_rows.c: a row for the part of its JavaScript library that V8 compiles when V8 is built. This code is in the program's
 * file. It has no CFI, but keeps frame pointers. */

/* Adds the row to a table whose rows are complete and whose pages are not made yet. Does nothing for programs without V8. In a
 * stripped file that exports V8, every large gap in the CFI counts as such code. Returns whether the table has such rows now, or ERROR_MEMORY. */
int builtin_rows_add(struct unwind_table *table, struct elf_file *file);

/*
 * code_rows.c: rows for code without unwind information, such as musl's functions and hand-written
 * assembler, from the code itself.
 *
 * From a function's start on, where the return address is at the stack pointer, its instructions
 * are followed along all branches. Each has an effect on the stack pointer and the frame pointer
 * (arch/stack_effect.h). A function gets rows only if that is consistent: all ways to an
 * instruction lead to the same state, each return is reached with the stack pointer and the frame
 * pointer of the beginning, and there is one. So its rows are as exact as unwind information. Other
 * code gets none.
 */

/* Adds rows to a table whose rows are complete and whose pages are not made yet. Returns 0 or ERROR_MEMORY. */
int code_rows_add(struct unwind_table *table, struct elf_file *file);

#endif
