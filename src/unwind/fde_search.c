#include "unwind/fde_search.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/lower_bound.h"
#include "unwind/cfi.h"

/* A CIE and an FDE, with their lengths: others are not found. */
enum { ENTRY_BYTES_MOST = 4096, LENGTH_BYTES = 4, COLUMN_BYTES = 4, ROW_BYTES = 8 };

/* Reads what is before the table, from the first `size` bytes of the header. Returns the offset of the table, or 0. */
static size_t read_header(struct fde_search *search, const struct elf_bytes *header, uint64_t whole_size)
{
	struct cursor cursor = cursor_over(header->bytes, header->size);
	const struct cfi_section section = { .bytes = header->bytes, .size = header->size, .address = header->address };
	uint64_t frames, count;
	uint8_t version = cursor_u8(&cursor), frames_encoding = cursor_u8(&cursor);
	uint8_t count_encoding = cursor_u8(&cursor), table_encoding = cursor_u8(&cursor);
	if (version != 1 || table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || count_encoding == DW_EH_PE_omit ||
	    !cfi_pointer(&cursor, &section, frames_encoding, &frames) ||
	    !cfi_number(&cursor, count_encoding & 0x0f, &count) || cursor.failed)
		return 0;
	size_t offset = (size_t)(cursor.next - header->bytes);
	if (count > (whole_size - offset) / ROW_BYTES)
		return 0;
	search->count = count;
	return offset;
}

void fde_search_init(struct fde_search *search, struct elf_file *file)
{
	struct elf_bytes header = elf_file_eh_frame_hdr(file);
	*search = (struct fde_search){ .file = file, .base = header.address };
	size_t offset = read_header(search, &header, header.size);
	if (offset)
		search->table = header.bytes + offset;
}

void fde_search_init_in_file(struct fde_search *search, struct elf_file *file)
{
	enum { HEADER_MOST = 32 };
	uint8_t bytes[HEADER_MOST];
	struct elf_bytes header = elf_file_eh_frame_hdr_place(file);
	uint64_t whole_size = header.size;
	*search = (struct fde_search){ .file = file, .base = header.address };
	header.bytes = bytes;
	header.size = sizeof(bytes);
	if (whole_size < sizeof(bytes) || !elf_file_copy(file, header.address, bytes, sizeof(bytes)))
		return;
	search->place = header.address + read_header(search, &header, whole_size);
}

/* Returns 0 where the file cannot be read. */
static uint64_t column(const struct fde_search *search, size_t row, unsigned which)
{
	int32_t value;
	uint64_t at = row * ROW_BYTES + which * (uint64_t)COLUMN_BYTES;
	if (search->table)
		memcpy(&value, search->table + at, sizeof(value));
	else if (!elf_file_copy(search->file, search->place + at, &value, sizeof(value)))
		return 0;
	return search->base + (uint64_t)(int64_t)value;
}

/* Copies an entry of .eh_frame and its length. Returns its size, or 0. */
static size_t copy_entry(const struct fde_search *search, uint64_t address, uint8_t *to)
{
	uint32_t length;
	if (!elf_file_copy(search->file, address, to, LENGTH_BYTES))
		return 0;
	memcpy(&length, to, sizeof(length));
	if (length < LENGTH_BYTES || length > ENTRY_BYTES_MOST - LENGTH_BYTES ||
	    !elf_file_copy(search->file, address, to, LENGTH_BYTES + (size_t)length))
		return 0;
	return LENGTH_BYTES + (size_t)length;
}

/* A small section of one CIE and one FDE behind it. */
struct pair {
	uint8_t bytes[2 * ENTRY_BYTES_MOST];
	struct cfi_section section;
	struct cfi_reader reader; /* owns the CIE */
	struct cfi_fde fde;
};

/* Makes the section. The FDE's pointers are relative to its place in the file, so the section is where it puts the FDE there. */
static bool copy_pair(const struct fde_search *search, uint64_t address, struct pair *pair)
{
	uint8_t fde[ENTRY_BYTES_MOST];
	uint32_t distance;
	size_t size = copy_entry(search, address, fde);
	if (size < 2 * sizeof(distance))
		return false;
	memcpy(&distance, fde + LENGTH_BYTES, sizeof(distance));
	size_t before = distance ? copy_entry(search, address + LENGTH_BYTES - distance, pair->bytes) : 0;
	if (before == 0)
		return false;
	distance = (uint32_t)(before + LENGTH_BYTES);
	memcpy(fde + LENGTH_BYTES, &distance, sizeof(distance));
	memcpy(pair->bytes + before, fde, size);
	pair->section = (struct cfi_section){
		.bytes = pair->bytes, .size = before + size, .address = address - before, .is_eh_frame = true
	};
	return true;
}

/* Returns the number of FDEs that begin up to an address. */
static size_t count_up_to(const struct fde_search *search, uint64_t address)
{
	return LOWER_BOUND(i, 0, search->table || search->place ? search->count : 0, column(search, i, 0) <= address);
}

/* Finds the last FDE that begins at or before an address. If it returns true, the caller releases pair->reader. */
static bool find_last(const struct fde_search *search, uint64_t address, struct pair *pair)
{
	size_t count = count_up_to(search, address);
	if (count == 0 || !copy_pair(search, column(search, count - 1, 1), pair))
		return false;
	cfi_reader_init(&pair->reader, &pair->section);
	bool is_found = cfi_reader_next(&pair->reader, &pair->fde) == 1;
	if (!is_found)
		cfi_reader_release(&pair->reader);
	return is_found;
}

/* Finds the FDE that contains an address, in the same way. */
static bool find(const struct fde_search *search, uint64_t address, struct pair *pair)
{
	if (!find_last(search, address, pair))
		return false;
	bool is_found = address >= pair->fde.start && address < pair->fde.end;
	if (!is_found)
		cfi_reader_release(&pair->reader);
	return is_found;
}

bool fde_search_last(const struct fde_search *search, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct pair pair;
	if (!find_last(search, address, &pair))
		return false;
	*start = pair.fde.start;
	*end = pair.fde.end;
	cfi_reader_release(&pair.reader);
	return true;
}

bool fde_search_range(const struct fde_search *search, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct pair pair;
	if (!find(search, address, &pair))
		return false;
	*start = pair.fde.start;
	*end = pair.fde.end;
	cfi_reader_release(&pair.reader);
	return true;
}

bool fde_search_row(const struct fde_search *search, uint64_t address, struct unwind_row *row)
{
	struct pair pair;
	struct cfi_machine machine;
	bool is_found = false;
	if (!find(search, address, &pair))
		return false;
	const struct cfi_cie *cie = &pair.reader.cies[pair.fde.cie];
	struct arch_function together = { 0 };
	cfi_machine_init(&machine, &pair.section, cie, &pair.fde);
	while (!is_found && cfi_machine_next(&machine) == 1) {
		const struct cfi_row_input input = { .state = &machine.state,
						     .section = pair.section.bytes,
						     .return_register = cie->return_register,
						     .is_signal = cie->is_signal };
		*row = arch_row(&input);
		arch_follow_row(&together, row);
		is_found = address < machine.end;
	}
	cfi_reader_release(&pair.reader);
	return is_found;
}

/* --- many FDEs --- */

/* The CIEs that were appended to a section last. Another one is appended again: programs have few, and a file may state any number. */
enum { COPIES_KEPT = 8 };
struct copies {
	struct copied_cie {
		uint64_t address; /* in the file */
		uint32_t offset;  /* in the section */
	} items[COPIES_KEPT];
	size_t count;
};

/* Sets *offset to that of a CIE, which is appended if it is none of the last ones. Returns 0 or ERROR_NOT_FOUND. */
static int put_cie(const struct fde_search *search, uint64_t address, struct copies *copies, struct buffer *section,
		   uint32_t *offset)
{
	uint8_t cie[ENTRY_BYTES_MOST];
	for (size_t i = 0; i < copies->count && i < COPIES_KEPT; i++) {
		*offset = copies->items[i].offset;
		if (copies->items[i].address == address)
			return 0;
	}
	size_t size = copy_entry(search, address, cie);
	if (size == 0)
		return ERROR_NOT_FOUND;
	*offset = (uint32_t)section->size;
	copies->items[copies->count++ % COPIES_KEPT] = (struct copied_cie){ address, *offset };
	buffer_append(section, cie, size);
	return 0;
}

/*
 * Appends an FDE, with its CIE's position and the start of its function, which is relative to its own place, for its new place:
 *
 *   length u32 | distance of the CIE u32 | start i32 | size u32 | ...
 *
 * Other encodings of the start do not lead to the start that the search table has.
 */
static int put_fde(const struct fde_search *search, size_t row, struct copies *copies, struct buffer *section,
		   uint64_t at)
{
	enum {
		CIE_AT = LENGTH_BYTES,
		START_AT = 2 * LENGTH_BYTES,
		LEAST = START_AT + 2 * COLUMN_BYTES,
		LENGTH_MOST = 1 << 20
	};
	uint8_t head[LEAST];
	uint32_t length, distance, cie;
	int32_t start;
	uint64_t address = column(search, row, 1), function = column(search, row, 0);
	if (!elf_file_copy(search->file, address, head, sizeof(head)))
		return ERROR_NOT_FOUND;
	memcpy(&length, head, sizeof(length));
	memcpy(&distance, head + CIE_AT, sizeof(distance));
	memcpy(&start, head + START_AT, sizeof(start));
	if (length < LEAST - LENGTH_BYTES || length > LENGTH_MOST || distance == 0 ||
	    address + START_AT + (uint64_t)(int64_t)start != function)
		return ERROR_NOT_FOUND;
	int status = put_cie(search, address + CIE_AT - distance, copies, section, &cie);
	if (status < 0)
		return status;
	distance = (uint32_t)section->size + CIE_AT - cie;
	start = (int32_t)(function - (at + section->size + START_AT));
	uint8_t *fde = buffer_extend(section, LENGTH_BYTES + (size_t)length);
	if (!fde)
		return ERROR_MEMORY;
	if (!elf_file_copy(search->file, address, fde, LENGTH_BYTES + (size_t)length))
		return ERROR_NOT_FOUND;
	memcpy(fde + CIE_AT, &distance, sizeof(distance));
	memcpy(fde + START_AT, &start, sizeof(start));
	return 0;
}

int fde_search_section(const struct fde_search *search, uint64_t low, uint64_t high, struct buffer *section,
		       uint64_t *at)
{
	/* Several rows may lead to one FDE. */
	enum { SECTION_BYTES_MOST = 4 << 20 };
	struct copies copies = { 0 };
	size_t first = low ? count_up_to(search, low - 1) : 0, end = high ? count_up_to(search, high - 1) : 0;
	int status = end > 0 ? 0 : ERROR_NOT_FOUND;
	*at = search->base;
	for (size_t row = first > 0 ? first - 1 : 0; row < end && status == 0; row++)
		status = section->size < SECTION_BYTES_MOST ? put_fde(search, row, &copies, section, *at)
							    : ERROR_NOT_FOUND;
	return status == 0 && buffer_error(section) < 0 ? ERROR_MEMORY : status;
}
