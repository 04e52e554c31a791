/*
 * The unwind table of a large file in parts, each made when an address in it is asked for: for a few walks through a program of which most code is
 * in none of them. A part covers 64 KB of the text. Its FDEs are found by the sorted table of .eh_frame_hdr (fde_search.h).
 *
 * A part has the rows of the whole table, but none for code without unwind information, which gets its rows from the whole file.
 *
 * Life cycle: unwind_parts_new, unwind_parts_make, unwind_parts_free.
 */
#ifndef UNWIND_TABLE_PARTS_H
#define UNWIND_TABLE_PARTS_H

#include "unwind/unwind.h"

struct unwind_parts;

/* Returns NULL if the file is not large, if parts cannot have the rows of its whole table, or if there is no memory. Does not keep the file.
 * `number` is of this file alone: the keys of the tables follow from it. */
struct unwind_parts *unwind_parts_new(struct elf_file *file, uint32_t number);
void unwind_parts_free(struct unwind_parts *parts); /* NULL is allowed */

/* Returns the table of the part with an ELF virtual address, made if it is new, or NULL if it has no rows for the address: then the whole table is needed. Releases
 * the parts of the file in memory (elf_file_release_parts). Valid until unwind_parts_clear. */
const struct unwind_table *unwind_parts_make(struct unwind_parts *parts, struct elf_file *file, uint64_t address);
/* Returns the same if it was made, otherwise NULL. */
const struct unwind_table *unwind_parts_at(const struct unwind_parts *parts, uint64_t address);

/* Returns the table of the first part from number *part on that was made, sets *low and *high to its range of ELF virtual addresses, and *part to the
 * number behind it. Returns NULL if there is none. */
const struct unwind_table *unwind_parts_next(const struct unwind_parts *parts, size_t *part, uint64_t *low,
					     uint64_t *high);

/* Returns the bytes of all parts, about. */
size_t unwind_parts_bytes(const struct unwind_parts *parts);
/* Frees all parts; they are made again where they are needed. */
void unwind_parts_clear(struct unwind_parts *parts);

#endif
