/*
 * Line tables: .debug_line, DWARF 2 to 5.
 *
 * libdw keeps every row of a unit's table (279,000 rows for sqlite3: 50 ms and 20 MB). This reader runs a table's
 * program once and keeps only the lines of the wanted addresses. Method: the state machine of DWARF 5, section 6.2.
 *
 * Life cycle: line_tables_init, any number of queries about units of one module, line_tables_release. Damaged tables
 * have no files and no lines.
 */
#ifndef FRAMES_NATIVE_LINES_H
#define FRAMES_NATIVE_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/hash_map.h"

struct line_file {
	const char *name;
	uint64_t directory; /* index in directories */
	char *path;         /* owned: the whole path; NULL until it is requested */
};

struct line_table {
	const char **directories; /* owned */
	size_t directory_count, directory_capacity;
	struct line_file *files; /* owned */
	size_t file_count, file_capacity;
	uint64_t first_code;        /* live_code_start */
	const char *unit_directory; /* working directory of the compiler; may be NULL */
	struct cursor program;
	const uint8_t *operand_counts; /* numbers of operands of opcodes 1 to opcode_base - 1 */
	uint16_t version;
	uint8_t offset_bytes; /* 4 or 8: 32-bit or 64-bit DWARF */
	uint8_t instruction_bytes;
	uint8_t opcode_base;
	uint8_t line_range;
	int8_t line_base;
};

struct line_tables {
	struct line_table *tables; /* the values of by_unit are indexes here */
	size_t table_count, table_capacity;
	struct hash_map by_unit; /* address of a unit's DIE in memory -> its table */
	struct line_sections {
		Dwarf *dwarf;
		uint64_t first_code;
		struct cursor lines, line_strings, strings;
	} * sections;
	size_t section_count, section_capacity;
};

void line_tables_init(struct line_tables *tables);
void line_tables_release(struct line_tables *tables);

/* Returns the number of a unit's table, or ERROR_MEMORY. */
int64_t line_tables_open(struct line_tables *tables, Dwarf_Die *unit);

/* Returns the path of a file, or NULL if there is none. `file` is a number of DW_AT_decl_file, DW_AT_call_file or a
 * row. The path is valid until line_tables_release. */
const char *line_tables_file(struct line_tables *tables, size_t table, uint64_t file);

/* The same by the unit. For a unit of a split file (-gsplit-dwarf), whose table libdw finds, the path comes from
 * libdw. Returns NULL also if memory is exhausted. */
const char *line_tables_unit_file(struct line_tables *tables, Dwarf_Die *unit, uint64_t file);
bool unit_is_split(Dwarf_Die *unit);

struct line_wanted {
	uint64_t address;
	uint32_t file;
	uint32_t line; /* 0: unknown */
	uint32_t discriminator;
};

/* Runs a table's program and fills in file, line and discriminator of `count` addresses, which are ascending. Returns 0 or
 * ERROR_MEMORY. */
int line_tables_find(struct line_tables *tables, size_t table, struct line_wanted *wanted, size_t count);

/* Runs a table's program and calls `row` for each row that contains code. [start, end) are DWARF's addresses; line 0
 * means that the compiler knew no line. A negative result of `row` ends the run and is returned. */
typedef int line_row_fn(void *context, uint64_t start, uint64_t end, uint32_t file, uint32_t line);
int line_tables_each(struct line_tables *tables, size_t table, line_row_fn *row, void *context);

/* --- shared by lines.c and line_header.c --- */

/* Reads a table's header. Returns 0, ERROR_CORRUPT or ERROR_MEMORY. */
int line_header_read(struct line_table *table, const struct line_sections *sections, uint64_t offset);
int line_table_add_file(struct line_table *table, const char *name, uint64_t directory);

#endif
