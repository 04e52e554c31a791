#include "unwind/fde_search.h"

#include <dwarf.h>
#include <string.h>

#include "arch/arch.h"
#include "unwind/cfi.h"

/* A CIE and an FDE, with their lengths: others are not found. */
enum { ENTRY_BYTES_MOST = 4096, LENGTH_BYTES = 4, COLUMN_BYTES = 4, ROW_BYTES = 8 };

void fde_search_init(struct fde_search *search, struct elf_file *file)
{
	struct elf_bytes header = elf_file_eh_frame_hdr(file);
	struct cursor cursor = cursor_over(header.bytes, header.size);
	const struct cfi_section section = { .bytes = header.bytes, .size = header.size, .address = header.address };
	uint64_t frames, count;
	*search = (struct fde_search){ .file = file, .base = header.address };
	uint8_t version = cursor_u8(&cursor), frames_encoding = cursor_u8(&cursor);
	uint8_t count_encoding = cursor_u8(&cursor), table_encoding = cursor_u8(&cursor);
	if (version != 1 || table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || count_encoding == DW_EH_PE_omit ||
	    !cfi_pointer(&cursor, &section, frames_encoding, &frames) ||
	    !cfi_number(&cursor, count_encoding & 0x0f, &count) || cursor.failed)
		return;
	if (count > cursor_left(&cursor) / ROW_BYTES)
		return;
	search->table = cursor.next;
	search->count = count;
}

static uint64_t column(const struct fde_search *search, size_t row, unsigned which)
{
	int32_t value;
	memcpy(&value, search->table + row * ROW_BYTES + which * (size_t)COLUMN_BYTES, sizeof(value));
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

/* Finds the FDE that contains an address. If it returns true, the caller releases pair->reader. */
static bool find(const struct fde_search *search, uint64_t address, struct pair *pair)
{
	size_t low = 0, high = search->table ? search->count : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (column(search, middle, 0) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || !copy_pair(search, column(search, low - 1, 1), pair))
		return false;
	cfi_reader_init(&pair->reader, &pair->section);
	bool is_found = cfi_reader_next(&pair->reader, &pair->fde) == 1 && address >= pair->fde.start &&
			address < pair->fde.end;
	if (!is_found)
		cfi_reader_release(&pair->reader);
	return is_found;
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
