#include "unwind/parts.h"

#include <dwarf.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/go_table.h"

/*
 *   CIE   length | 0xffffffff | 1 | "" | code unit 1 | data unit 1 | register of the return address | CFA = sp + 8, return address at CFA - 8
 *   FDE   length | 0 (the CIE) | start u64 | size u64 | for each value: CFA = sp + 8 + value, advance
 */
enum { WORD = 8, LENGTH_BYTES = 4 };
/* The section takes at most this many bytes for each byte of the table. The table of a linker takes three times the section; in a forged
 * table, all functions may share one long list of values. */
enum { SECTION_BYTES_MOST = 2 };

static void append_u32(struct buffer *section, uint32_t value)
{
	buffer_append(section, &value, sizeof(value));
}

static void append_u64(struct buffer *section, uint64_t value)
{
	buffer_append(section, &value, sizeof(value));
}

/* Writes the length of the entry that begins at `at`. */
static void end_entry(struct buffer *section, size_t at)
{
	uint32_t length = (uint32_t)(section->size - at - LENGTH_BYTES);
	if (!buffer_error(section))
		memcpy(section->bytes + at, &length, sizeof(length));
}

static void append_cie(struct buffer *section)
{
	static const uint8_t body[] = { 1,
					0,
					1,
					1,
					ARCH_PC_REGISTER,
					DW_CFA_def_cfa,
					ARCH_SP_REGISTER,
					WORD,
					DW_CFA_offset_extended_sf,
					ARCH_PC_REGISTER,
					0x80 - WORD };
	size_t at = section->size;
	append_u32(section, 0);
	append_u32(section, UINT32_MAX);
	buffer_append(section, body, sizeof(body));
	end_entry(section, at);
}

static void append_values(struct buffer *section, size_t most, struct go_values *values)
{
	uint64_t at = values->end;
	while (section->size <= most && go_values_next(values) && values->value >= 0) {
		if (values->start > at) {
			buffer_append_byte(section, DW_CFA_advance_loc4);
			append_u32(section, (uint32_t)(values->start - at));
			at = values->start;
		}
		buffer_append_byte(section, DW_CFA_def_cfa_offset);
		buffer_append_varint(section, (uint64_t)values->value + WORD);
	}
}

/* Returns false, and appends nothing, if the section would have more than `most` bytes. */
static bool append_fde(struct buffer *section, size_t most, const struct go_table *table,
		       const struct go_function *function)
{
	size_t at = section->size;
	append_u32(section, 0);
	append_u32(section, 0);
	append_u64(section, function->start);
	append_u64(section, function->end - function->start);
	if (function->is_outermost) {
		buffer_append_byte(section, DW_CFA_undefined);
		buffer_append_byte(section, ARCH_PC_REGISTER);
	}
	struct go_values values = go_values_of(table, function, function->stack);
	append_values(section, most, &values);
	if (section->size > most) {
		section->size = at;
		return false;
	}
	end_entry(section, at);
	return true;
}

int go_frame_append(struct buffer *section, struct elf_file *file)
{
	struct go_table table;
	struct go_function function;
	uint64_t end = 0;
	bool has_room = true;
	if (ARCH_LEAF_KEEPS_SP || !go_table_open(&table, file))
		return 0;
	append_cie(section);
	for (uint64_t i = 0; i < table.count && has_room && !buffer_error(section); i++) {
		/* Overlapping functions are damage. */
		if (!go_table_function(&table, i, &function) || function.stack == 0 || function.start < end ||
		    function.end - function.start > UINT32_MAX)
			continue;
		end = function.end;
		has_room = append_fde(section, SECTION_BYTES_MOST * table.bytes.size, &table, &function);
	}
	return buffer_error(section);
}
