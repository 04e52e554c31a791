#include "elf/go_table.h"

#include <elf.h>
#include <string.h>

#include "base/lower_bound.h"

enum { WORD = 8, HEADER_WORDS = 8, MAGIC_BYTES = 8, STRING_BYTES_MOST = 1 << 16 };

static const uint32_t since_1_16 = 0xfffffffa, since_1_18 = 0xfffffff0, since_1_20 = 0xfffffff1;

static bool has_relative_entries(const struct go_table *table)
{
	return table->magic != since_1_16;
}

static size_t entry_bytes(const struct go_table *table)
{
	return has_relative_entries(table) ? sizeof(uint32_t) : sizeof(uint64_t);
}

static struct cursor cursor_at(const struct go_table *table, uint64_t offset)
{
	if (offset >= table->bytes.size)
		return (struct cursor){ .failed = true };
	return cursor_over(table->bytes.bytes + offset, table->bytes.size - offset);
}

static uint64_t read_entry(const struct go_table *table, struct cursor *cursor)
{
	return has_relative_entries(table) ? table->first_code + cursor_u32(cursor) : cursor_u64(cursor);
}

/* --- opening --- */

static bool is_header(const uint8_t bytes[MAGIC_BYTES], uint32_t *magic, uint8_t *code_unit)
{
	memcpy(magic, bytes, sizeof(*magic));
	*code_unit = bytes[6];
	return (*magic == since_1_16 || *magic == since_1_18 || *magic == since_1_20) && bytes[4] == 0 &&
	       bytes[5] == 0 && (*code_unit == 1 || *code_unit == 4) && bytes[7] == WORD;
}

/* The header's address of the first code is 0 in a position-independent file, whose dynamic linker puts it there. */
static uint64_t relocated(struct elf_file *file, uint64_t address)
{
	struct elf_bytes section = elf_file_section(file, ".rela.dyn");
	uint64_t value = 0;
	Elf64_Rela relocation;
	for (size_t at = 0; section.bytes && value == 0 && at + sizeof(relocation) <= section.size;
	     at += sizeof(relocation)) {
		memcpy(&relocation, section.bytes + at, sizeof(relocation));
		if (relocation.r_offset == address)
			value = (uint64_t)relocation.r_addend;
	}
	elf_file_release_part(file, &section);
	return value;
}

static bool is_inside(const struct go_table *table, uint64_t offset)
{
	return offset < table->bytes.size;
}

enum { FUNCTION_COUNT, FILE_COUNT, FIRST_CODE };

bool go_table_read(struct go_table *table, struct elf_bytes bytes)
{
	*table = (struct go_table){ .bytes = bytes };
	if (bytes.size < MAGIC_BYTES || !is_header(bytes.bytes, &table->magic, &table->code_unit))
		return false;
	struct cursor cursor = cursor_at(table, MAGIC_BYTES);
	uint64_t words[HEADER_WORDS] = { 0 };
	size_t count = has_relative_entries(table) ? HEADER_WORDS : HEADER_WORDS - 1;
	for (size_t i = 0; i < count; i++)
		words[i] = cursor_u64(&cursor);
	const uint64_t *offsets = &words[count - 5];
	table->count = words[FUNCTION_COUNT];
	table->names = offsets[0];
	table->units = offsets[1];
	table->files = offsets[2];
	table->values = offsets[3];
	table->functions = offsets[4];
	if (cursor.failed || !is_inside(table, table->names) || !is_inside(table, table->units) ||
	    !is_inside(table, table->files) || !is_inside(table, table->values) ||
	    !is_inside(table, table->functions) || table->count == 0 ||
	    table->count > (bytes.size - table->functions) / (2 * entry_bytes(table)))
		return false;
	table->first_code = has_relative_entries(table) ? words[FIRST_CODE] : 0;
	return true;
}

/* Completes a table that was read from a file. Reads all relocations of the file. */
static bool find_first_code(struct go_table *table, struct elf_file *file)
{
	if (!has_relative_entries(table))
		return true;
	if (table->first_code == 0)
		table->first_code = relocated(file, table->bytes.address + MAGIC_BYTES + FIRST_CODE * (uint64_t)WORD);
	if (table->first_code == 0)
		table->first_code = elf_file_section(file, ".text").address;
	return table->first_code != 0;
}

static bool read_first(struct go_table *table, struct elf_bytes section)
{
	for (size_t at = 0; section.bytes && at + MAGIC_BYTES <= section.size; at += WORD) {
		struct elf_bytes rest = { section.bytes + at, section.size - at, section.address + at };
		if (go_table_read(table, rest))
			return true;
	}
	return false;
}

bool go_table_open(struct go_table *table, struct elf_file *file)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct elf_bytes section = elf_file_section(file, names[i]);
		if (section.bytes)
			return go_table_read(table, section) && find_first_code(table, file);
	}
	return elf_file_section(file, ".note.go.buildid").bytes &&
	       read_first(table, elf_file_section(file, ".data.rel.ro")) && find_first_code(table, file);
}

/* --- functions --- */

static uint64_t entry_of(const struct go_table *table, uint64_t i)
{
	struct cursor cursor = cursor_at(table, table->functions + i * 2 * entry_bytes(table));
	return read_entry(table, &cursor);
}

static const char *string_at(const struct go_table *table, uint64_t base, uint64_t offset)
{
	struct cursor cursor = cursor_at(table, base + offset);
	if (!cursor.failed && cursor_left(&cursor) > STRING_BYTES_MOST)
		cursor.end = cursor.next + STRING_BYTES_MOST;
	return cursor_string(&cursor);
}

bool go_table_function(const struct go_table *table, uint64_t i, struct go_function *function)
{
	enum { IS_OUTERMOST = 1 };
	struct cursor cursor = cursor_at(table, table->functions + i * 2 * entry_bytes(table));
	*function = (struct go_function){ .start = read_entry(table, &cursor) };
	uint64_t record = entry_bytes(table) == sizeof(uint32_t) ? cursor_u32(&cursor) : cursor_u64(&cursor);
	function->end = read_entry(table, &cursor);
	if (i >= table->count || cursor.failed || function->end <= function->start || record >= table->bytes.size)
		return false;
	cursor = cursor_at(table, table->functions + record);
	cursor_bytes(&cursor, entry_bytes(table));
	function->name = cursor_u32(&cursor);
	cursor_bytes(&cursor, 2 * sizeof(uint32_t));
	function->stack = cursor_u32(&cursor);
	function->files = cursor_u32(&cursor);
	function->lines = cursor_u32(&cursor);
	cursor_bytes(&cursor, sizeof(uint32_t));
	function->unit = cursor_u32(&cursor);
	cursor_bytes(&cursor, table->magic == since_1_20 ? sizeof(uint32_t) : 0);
	cursor_u8(&cursor);
	function->is_outermost = cursor_u8(&cursor) & IS_OUTERMOST;
	return !cursor.failed;
}

const char *go_table_name(const struct go_table *table, const struct go_function *function)
{
	const char *name = string_at(table, table->names, function->name);
	return name && name[0] ? name : NULL;
}

bool go_table_find(const struct go_table *table, uint64_t address, struct go_function *function)
{
	uint64_t next = LOWER_BOUND(i, 0, table->count, entry_of(table, i) <= address);
	return next > 0 && go_table_function(table, next - 1, function) && address >= function->start &&
	       address < function->end;
}

/* --- values --- */

struct go_values go_values_of(const struct go_table *table, const struct go_function *function, uint32_t offset)
{
	struct go_values values = { .end = function->start,
				    .value = -1,
				    .limit = function->end,
				    .code_unit = table->code_unit,
				    .is_first = true };
	values.cursor = cursor_at(table, offset ? table->values + offset : UINT64_MAX);
	return values;
}

bool go_values_next(struct go_values *values)
{
	uint64_t change = cursor_varint(&values->cursor), units = cursor_varint(&values->cursor);
	if (values->cursor.failed || (change == 0 && !values->is_first) || units == 0 || values->end >= values->limit)
		return false;
	uint64_t left = values->limit - values->end, bytes = units < left ? units * values->code_unit : left;
	values->is_first = false;
	values->value = (int32_t)((uint32_t)values->value + (uint32_t)((change >> 1) ^ (0 - (change & 1))));
	values->start = values->end;
	values->end += bytes < left ? bytes : left;
	return true;
}

/* Returns the value at an address, or -1. */
static int32_t value_at(const struct go_table *table, const struct go_function *function, uint32_t offset,
			uint64_t address)
{
	struct go_values values = go_values_of(table, function, offset);
	while (go_values_next(&values))
		if (address < values.end)
			return values.value;
	return -1;
}

void go_table_place(const struct go_table *table, const struct go_function *function, uint64_t address,
		    const char **file, uint32_t *line)
{
	int32_t number = value_at(table, function, function->files, address);
	int32_t found = value_at(table, function, function->lines, address);
	*line = found > 0 ? (uint32_t)found : 0;
	*file = NULL;
	if (number < 0)
		return;
	uint64_t unit = ((uint64_t)function->unit + (uint32_t)number) * sizeof(uint32_t);
	struct cursor cursor = cursor_at(table, table->units + unit);
	uint32_t offset = cursor_u32(&cursor);
	if (!cursor.failed && offset != UINT32_MAX)
		*file = string_at(table, table->files, offset);
}
