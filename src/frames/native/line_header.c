/* Reads the header of a line table: its files and directories. */
#include <dwarf.h>

#include "base/array.h"
#include "base/error.h"
#include "frames/native/lines.h"

int line_table_add_file(struct line_table *table, const char *name, uint64_t directory)
{
	if (ARRAY_RESERVE(table->files, table->file_capacity, table->file_count + 1) < 0)
		return ERROR_MEMORY;
	table->files[table->file_count++] = (struct line_file){ .name = name, .directory = directory };
	return 0;
}

static int add_directory(struct line_table *table, const char *name)
{
	if (ARRAY_RESERVE(table->directories, table->directory_capacity, table->directory_count + 1) < 0)
		return ERROR_MEMORY;
	table->directories[table->directory_count++] = name;
	return 0;
}

static uint64_t read_offset(struct cursor *cursor, const struct line_table *table)
{
	return table->offset_bytes == 8 ? cursor_u64(cursor) : cursor_u32(cursor);
}

static const char *string_at(struct cursor section, uint64_t offset)
{
	if (offset >= cursor_left(&section))
		return NULL;
	section.next += offset;
	return cursor_string(&section);
}

/* Versions 2 to 4: lists of names, each ended by an empty name. Directory 0 is the unit's; files count from 1. */
static int read_lists_4(struct line_table *table, struct cursor *cursor)
{
	int status = add_directory(table, NULL);
	for (const char *name; status == 0 && (name = cursor_string(cursor)) && *name;)
		status = add_directory(table, name);
	if (status == 0)
		status = line_table_add_file(table, NULL, 0);
	for (const char *name; status == 0 && (name = cursor_string(cursor)) && *name;) {
		uint64_t directory = cursor_varint(cursor);
		cursor_varint(cursor); /* modification time */
		cursor_varint(cursor); /* size */
		status = line_table_add_file(table, name, directory);
	}
	return status;
}

/* Reads one value, a text or a number, in a form that headers of version 5 use. */
static void read_form(struct cursor *cursor, const struct line_table *table, const struct line_sections *sections,
		      uint64_t form, const char **text, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*text = cursor_string(cursor);
		break;
	case DW_FORM_line_strp:
		*text = string_at(sections->line_strings, read_offset(cursor, table));
		break;
	case DW_FORM_strp:
		*text = string_at(sections->strings, read_offset(cursor, table));
		break;
	case DW_FORM_strp_sup: /* in a file that dwz shares; its text is not read */
		read_offset(cursor, table);
		break;
	case DW_FORM_udata:
		*number = cursor_varint(cursor);
		break;
	case DW_FORM_data1:
		*number = cursor_u8(cursor);
		break;
	case DW_FORM_data2:
		*number = cursor_u16(cursor);
		break;
	case DW_FORM_data4:
		*number = cursor_u32(cursor);
		break;
	case DW_FORM_data8:
		*number = cursor_u64(cursor);
		break;
	case DW_FORM_data16: /* an MD5 sum */
		cursor_bytes(cursor, 16);
		break;
	case DW_FORM_block:
		cursor_bytes(cursor, cursor_varint(cursor));
		break;
	default:
		cursor->failed = true;
	}
}

/* Version 5: a description of the columns, followed by the rows. */
static int read_list_5(struct line_table *table, const struct line_sections *sections, struct cursor *cursor,
		       bool is_files)
{
	enum { COLUMNS_MAX = 255 };
	uint64_t content[COLUMNS_MAX], form[COLUMNS_MAX];
	uint8_t columns = cursor_u8(cursor);
	for (uint8_t i = 0; i < columns; i++) {
		content[i] = cursor_varint(cursor);
		form[i] = cursor_varint(cursor);
	}
	uint64_t rows = cursor_varint(cursor);
	int status = 0;
	for (uint64_t row = 0; row < rows && columns > 0 && !cursor->failed && status == 0; row++) {
		const char *path = NULL;
		uint64_t directory = 0;
		for (uint8_t i = 0; i < columns; i++) {
			const char *text = NULL;
			uint64_t number = 0;
			read_form(cursor, table, sections, form[i], &text, &number);
			if (content[i] == DW_LNCT_path)
				path = text;
			else if (content[i] == DW_LNCT_directory_index)
				directory = number;
		}
		status = is_files ? line_table_add_file(table, path, directory) : add_directory(table, path);
	}
	return status;
}

/* Limits the cursor to the unit's part of the section. Returns false if it is damaged. */
static bool bound_unit(struct line_table *table, struct cursor *cursor)
{
	enum { LENGTH_IS_64_BITS = 0xffffffff };
	uint64_t length = cursor_u32(cursor);
	table->offset_bytes = 4;
	if (length == LENGTH_IS_64_BITS) {
		table->offset_bytes = 8;
		length = cursor_u64(cursor);
	}
	if (cursor->failed || length > cursor_left(cursor))
		return false;
	cursor->end = cursor->next + length;
	return true;
}

int line_header_read(struct line_table *table, const struct line_sections *sections, uint64_t offset)
{
	struct cursor cursor = sections->lines;
	if (offset >= cursor_left(&cursor))
		return ERROR_CORRUPT;
	cursor.next += offset;
	if (!bound_unit(table, &cursor))
		return ERROR_CORRUPT;
	table->version = cursor_u16(&cursor);
	if (table->version < 2 || table->version > 5)
		return ERROR_CORRUPT;
	if (table->version >= 5)
		cursor_bytes(&cursor, 2); /* sizes of an address and of a segment selector */
	uint64_t header_bytes = read_offset(&cursor, table);
	if (cursor.failed || header_bytes > cursor_left(&cursor))
		return ERROR_CORRUPT;
	table->program = cursor_over(cursor.next + header_bytes, cursor_left(&cursor) - header_bytes);
	cursor.end = cursor.next + header_bytes;
	table->instruction_bytes = cursor_u8(&cursor);
	if (table->version >= 4)
		cursor_u8(&cursor); /* operations per instruction: 1 except on VLIW machines */
	cursor_u8(&cursor);         /* whether rows are statements by default */
	table->line_base = (int8_t)cursor_u8(&cursor);
	table->line_range = cursor_u8(&cursor);
	table->opcode_base = cursor_u8(&cursor);
	if (cursor.failed || table->line_range == 0 || table->opcode_base == 0)
		return ERROR_CORRUPT;
	table->operand_counts = cursor_bytes(&cursor, table->opcode_base - 1u);
	int status = 0;
	if (table->version >= 5) {
		status = read_list_5(table, sections, &cursor, false);
		if (status == 0)
			status = read_list_5(table, sections, &cursor, true);
	} else {
		status = read_lists_4(table, &cursor);
	}
	return status == 0 && cursor.failed ? ERROR_CORRUPT : status;
}
