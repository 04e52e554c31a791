/*
 * Line tables: .debug_line, DWARF 2 to 5.
 *
 * libdw keeps every row of a unit's table (for sqlite3 279,000 of them: 50 ms
 * and 20 MB). Here a table's program is run once past the wanted addresses,
 * and nothing of it is kept but their lines. Method: the state machine of
 * DWARF 5, section 6.2.
 *
 * Life cycle: line_tables_init, any number of questions about units of one
 * module, line_tables_release. Damaged tables have no files and no lines.
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
	char *path;         /* owned: all of it, once it was requested */
};

struct line_table {
	const char **directories; /* owned */
	size_t directory_count, directory_capacity;
	struct line_file *files; /* owned */
	size_t file_count, file_capacity;
	const char *unit_directory; /* the compiler's working directory; may be NULL */
	struct cursor program;
	const uint8_t *operand_counts; /* lengths of opcodes 1 to opcode_base - 1 */
	uint16_t version;
	uint8_t offset_bytes; /* 4 or 8: 32-bit or 64-bit DWARF */
	uint8_t instruction_bytes;
	uint8_t opcode_base;
	uint8_t line_range;
	int8_t line_base;
};

struct line_tables {
	struct line_table *tables; /* by number in by_unit */
	size_t table_count, table_capacity;
	struct hash_map by_unit; /* offset of a unit's DIE -> its table */
	struct line_sections {
		Dwarf *dwarf;
		struct cursor lines, line_strings, strings;
	} * sections;
	size_t section_count, section_capacity;
};

void line_tables_init(struct line_tables *tables);
void line_tables_release(struct line_tables *tables);

/* The number of a unit's table, or ERROR_MEMORY. */
int64_t line_tables_open(struct line_tables *tables, Dwarf_Die *unit);

/* Path of a file by its number in DW_AT_decl_file, DW_AT_call_file and rows;
 * NULL: there is none. Valid until line_tables_release. */
const char *line_tables_file(struct line_tables *tables, size_t table, uint64_t file);

/* The same by the unit. A unit of a split file (-gsplit-dwarf) has no table of
 * its own here: libdw knows where that is. NULL also if there is no memory. */
const char *line_tables_unit_file(struct line_tables *tables, Dwarf_Die *unit, uint64_t file);
bool unit_is_split(Dwarf_Die *unit);

struct line_wanted {
	uint64_t address;
	uint32_t file;
	uint32_t line; /* 0: unknown */
};

/* Runs a table's program; fills in file and line of `count` addresses, which ascend. */
int line_tables_find(struct line_tables *tables, size_t table, struct line_wanted *wanted, size_t count);

/* Runs a table's program; calls `row` for each of its rows that any code lies in: [start, end) as DWARF counts.
 * line 0: the compiler knows none. A negative return ends it, and is returned. */
typedef int line_row_fn(void *context, uint64_t start, uint64_t end, uint32_t file, uint32_t line);
int line_tables_each(struct line_tables *tables, size_t table, line_row_fn *row, void *context);

/* --- lines.c for itself: line_header.c --- */

/* Reads a table's header. Returns 0, ERROR_CORRUPT or ERROR_MEMORY. */
int line_header_read(struct line_table *table, const struct line_sections *sections, uint64_t offset);
int line_table_add_file(struct line_table *table, const char *name, uint64_t directory);

#endif
