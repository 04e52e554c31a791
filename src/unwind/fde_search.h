/*
 * Finds single FDEs of a file by the sorted table of .eh_frame_hdr (Linux Standard Base Core 5, 10.6.2), which linkers write for the
 * language runtimes: for a few questions about a large file, where to build its unwind table costs more.
 *
 *   .eh_frame_hdr   1 | encodings of the next two fields and of the table | .eh_frame | number | table: i32 start, i32 FDE
 *
 * The two columns of the table are relative to the start of .eh_frame_hdr.
 */
#ifndef UNWIND_FDE_SEARCH_H
#define UNWIND_FDE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind_row.h"
#include "base/buffer.h"
#include "elf/elf_file.h"

struct fde_search {
	struct elf_file *file; /* not owned */
	const uint8_t *table;  /* NULL: there is none, or it has another form, or it is not in memory */
	size_t count;          /* 0: there is none */
	uint64_t place;        /* ELF virtual address of a table that is not in memory */
	uint64_t base;
};

/* The file must outlive the search. */
void fde_search_init(struct fde_search *search, struct elf_file *file);
/* The same for a few searches: reads only those rows of the table that are looked at, which takes longer for each. */
void fde_search_init_in_file(struct fde_search *search, struct elf_file *file);

/* Sets the range of the FDE that contains an ELF virtual address. Returns false if there is none. */
bool fde_search_range(const struct fde_search *search, uint64_t address, uint64_t *start, uint64_t *end);

/* Sets the range of the last FDE that begins at or before an address. Returns false if there is none, or if it is damaged. */
bool fde_search_last(const struct fde_search *search, uint64_t address, uint64_t *start, uint64_t *end);

/* Sets *row to the row for an address, with pc 0, as an unwind table has it. Returns false if there is none. */
bool fde_search_row(const struct fde_search *search, uint64_t address, struct unwind_row *row);

/* Appends an .eh_frame, for which its first byte is at the ELF virtual address *at, with the FDEs that begin from `low` up to `high`, the FDE before
 * them, and their CIEs. Returns 0, ERROR_MEMORY, or ERROR_NOT_FOUND if one has a form that linkers do not write, or if they
 * take more than 4 MB. */
int fde_search_section(const struct fde_search *search, uint64_t low, uint64_t high, struct buffer *section,
		       uint64_t *at);

#endif
