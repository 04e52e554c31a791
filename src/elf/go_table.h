/*
 * The table of functions of a Go program, .gopclntab: the runtime walks stacks by it, so each program has it, also one that was linked
 * without symbols and DWARF (-ldflags='-s -w') or stripped. It has names, files, lines, and the distance from the stack pointer to
 * the CFA. Little-endian, of programs with pointers of 8 bytes:
 *
 *   header     magic u32 | 0 u8 | 0 u8 | code unit u8 | 8 u8 | words: functions, files, [first code,] and the offsets of names, units,
 *              files, values, functions
 *   functions  for each, by address: entry, offset of its record from here; at the end: the end of the code
 *   record     entry | name u32 | - u32 | - u32 | values of sp u32, of files u32, of lines u32 | - u32 | unit u32 | [first line u32] | id u8 | flags u8
 *   values     of one function: pairs of varints: the change of the value (zigzag, first from -1), and the code units that have it. A change
 *              of 0 that is not the first one ends them
 *   unit       u32 for each file: offset of its path from `files`
 *
 * The magic is 0xfffffffa since Go 1.16, 0xfffffff0 since 1.18 and 0xfffffff1 since 1.20. Entries are words and addresses before 1.18, u32 and
 * relative to the first code since; the first line is there since 1.20, the flags since 1.17.
 *
 * Each offset is checked, so that a damaged table gives fewer functions or values. Functions of a forged table can share a name, a record or
 * values of any length: a caller that reads them for each function bounds the total.
 */
#ifndef ELF_GO_TABLE_H
#define ELF_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "elf/elf_file.h"

struct go_table {
	struct elf_bytes bytes; /* from the header to the end of its section; valid as long as the file */
	uint32_t magic;
	uint8_t code_unit;
	uint64_t count; /* of functions */
	uint64_t first_code;
	uint64_t names, units, files, values, functions; /* offsets in bytes; below bytes.size */
};

/* Finds the table by the name of its section, or in .data.rel.ro by the first header that is one (position-independent programs). Returns
 * false if the file has none, or one of another version. Reads the file's relocations at most once. */
bool go_table_open(struct go_table *table, struct elf_file *file);

/* Reads a table from its header on, with its first_code as it is there. Returns false if it is none. */
bool go_table_read(struct go_table *table, struct elf_bytes bytes);

struct go_function {
	uint64_t start, end;          /* ELF virtual addresses */
	uint32_t name;                /* offset; go_table_name */
	uint32_t stack, files, lines; /* offsets of the values; 0: there are none */
	uint32_t unit;
	bool is_outermost; /* it begins a stack */
};

/* Reads function number i. Returns false if it is damaged. */
bool go_table_function(const struct go_table *table, uint64_t i, struct go_function *function);
/* Returns the function's name, valid as long as the file, or NULL if it is empty or longer than 64 KB. */
const char *go_table_name(const struct go_table *table, const struct go_function *function);
/* Finds the function that contains an ELF virtual address. Returns false if there is none. */
bool go_table_find(const struct go_table *table, uint64_t address, struct go_function *function);

/* Values of a function. Life cycle: go_values_of, then go_values_next until it returns false. */
struct go_values {
	struct cursor cursor;
	uint64_t start, end; /* the code that has the value: ELF virtual addresses */
	int32_t value;
	uint64_t limit; /* the function's end */
	uint8_t code_unit;
	bool is_first;
};

struct go_values go_values_of(const struct go_table *table, const struct go_function *function, uint32_t offset);
bool go_values_next(struct go_values *values);

/* Sets the file (NULL: unknown; valid as long as the file) and the line (0: unknown) of an address in a function. */
void go_table_place(const struct go_table *table, const struct go_function *function, uint64_t address,
		    const char **file, uint32_t *line);

#endif
