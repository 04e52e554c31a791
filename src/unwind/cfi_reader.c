#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unwind/cfi.h"

/*
 * One entry:
 *
 *   length      u32, or 0xffffffff and u64: bytes from `id` on; 0: the end
 *   id          CIE: 0 (.debug_frame: all ones); FDE: position of its CIE
 *   CIE         version u8 | augmentation string | [eh data] | [sizes] | alignments | ... | instructions
 *   FDE         start | size | [augmentation data] | instructions
 */
enum { MOST_CIES = 1 << 16, MOST_CIE_PASSES = 4, DW_EH_PE_format = 0x0f };

void cfi_reader_init(struct cfi_reader *reader, const struct cfi_section *section)
{
	*reader = (struct cfi_reader){ .section = *section, .last_cie_offset = SIZE_MAX };
	hash_map_init(&reader->cie_by_offset);
	/* Offsets in a section are 32-bit numbers. */
	if (reader->section.size > UINT32_MAX)
		reader->section.size = UINT32_MAX;
}

void cfi_reader_release(struct cfi_reader *reader)
{
	free(reader->cies);
	hash_map_release(&reader->cie_by_offset);
}

/* --- CIEs --- */

/* Reads the data that the letters of the augmentation string describe, in their order. The size of an unknown
 * letter's data is unknown, so all data behind it is ignored. Returns false if that includes the encoding of
 * pointers, or if the data is cut off. */
static bool read_augmentation(struct cursor *cursor, const struct cfi_section *section, const char *letters,
			      struct cfi_cie *cie)
{
	uint64_t size = cursor_varint(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, size);
	struct cursor data = cursor_over(bytes, bytes ? size : 0);
	bool understood = true;
	cie->has_augmentation_data = true;
	for (; *letters; letters++) {
		if (*letters == 'S')
			cie->is_signal = true;
		else if (*letters == 'R' && understood)
			cie->pointer_encoding = cursor_u8(&data);
		else if (*letters == 'R')
			return false;
		else if (*letters == 'L' && understood)
			cursor_u8(&data);
		else if (*letters == 'P' && understood)
			understood = cfi_skip_pointer(&data, section, cursor_u8(&data));
		else
			understood = false;
	}
	return !data.failed;
}

static bool parse_cie(struct cursor *cursor, const struct cfi_section *section, struct cfi_cie *cie)
{
	*cie = (struct cfi_cie){ .pointer_encoding = DW_EH_PE_absptr, .address_size = 8 };
	uint8_t version = cursor_u8(cursor);
	const char *augmentation = cursor_string(cursor);
	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	if (strcmp(augmentation, "eh") == 0) { /* gcc 2: a pointer to its exception table */
		cursor_u64(cursor);
		augmentation = "";
	}
	if (version == 4) {
		cie->address_size = cursor_u8(cursor);
		cie->segment_size = cursor_u8(cursor);
	}
	cie->code_align = cursor_varint(cursor);
	cie->data_align = cursor_sleb128(cursor);
	uint64_t return_register = version == 1 ? cursor_u8(cursor) : cursor_varint(cursor);
	if (augmentation[0] == 'z') {
		if (!read_augmentation(cursor, section, augmentation + 1, cie))
			return false;
	} else if (augmentation[0]) {
		return false;
	}
	if (cursor->failed || return_register >= ARCH_REGISTERS || (cie->address_size != 8 && cie->address_size != 4))
		return false;
	cie->return_register = (uint8_t)return_register;
	cie->instructions = (uint32_t)(cursor->next - section->bytes);
	cie->instructions_size = (uint32_t)cursor_left(cursor);
	return cfi_cie_run(section, cie);
}

/* --- entries --- */

struct entry {
	size_t offset; /* of the length */
	bool is_cie;
	size_t cie_offset;  /* of an FDE; may be outside of the section */
	struct cursor rest; /* the bytes behind the id */
};

/* Returns 1 for an entry, or 0 at the end (or at damage that hides the next entry). */
static int read_entry(struct cfi_reader *reader, size_t offset, struct entry *entry, size_t *next)
{
	const struct cfi_section *section = &reader->section;
	struct cursor cursor = cursor_over(section->bytes + offset, section->size - offset);
	uint64_t length = cursor_u32(&cursor);
	bool is_64bit = length == 0xffffffff;
	if (is_64bit)
		length = cursor_u64(&cursor);
	const uint8_t *body = cursor_bytes(&cursor, length);
	if (!body)
		return 0;
	*next = (size_t)(cursor.next - section->bytes);
	entry->offset = offset;
	entry->rest = (struct cursor){ .next = body, .end = body + length };
	if (length == 0)
		return 1;
	/* In .eh_frame the id also has 4 bytes in 64-bit entries. */
	bool wide = is_64bit && !section->is_eh_frame;
	uint64_t id = wide ? cursor_u64(&entry->rest) : cursor_u32(&entry->rest);
	if (section->is_eh_frame) {
		uint64_t at = (uint64_t)(body - section->bytes);
		entry->is_cie = id == 0 && !entry->rest.failed;
		entry->cie_offset = (size_t)(at - id);
	} else {
		entry->is_cie = id == (wide ? UINT64_MAX : UINT32_MAX);
		entry->cie_offset = (size_t)id;
	}
	return 1;
}

/* Finds the index of the CIE at an offset, and parses the CIE at its first use. */
static int find_cie(struct cfi_reader *reader, size_t offset, uint32_t *index)
{
	if (offset >= reader->section.size)
		return ERROR_CORRUPT;
	if (offset == reader->last_cie_offset) {
		*index = reader->last_cie;
		return 0;
	}
	*index = hash_map_get(&reader->cie_by_offset, offset);
	if (*index == HASH_MAP_NONE) {
		struct entry entry = { 0 };
		size_t next;
		if (!read_entry(reader, offset, &entry, &next) || !entry.is_cie)
			return ERROR_CORRUPT;
		/* Keeps the work linear if entries overlap. */
		reader->cie_bytes += cursor_left(&entry.rest);
		if (reader->cie_count >= MOST_CIES || reader->cie_bytes / MOST_CIE_PASSES > reader->section.size)
			return ERROR_CORRUPT;
		if (ARRAY_RESERVE(reader->cies, reader->cie_capacity, reader->cie_count + 1) < 0)
			return ERROR_MEMORY;
		*index = (uint32_t)reader->cie_count;
		if (hash_map_put(&reader->cie_by_offset, offset, *index) < 0)
			return ERROR_MEMORY;
		struct cfi_cie *cie = &reader->cies[reader->cie_count++];
		cie->usable = parse_cie(&entry.rest, &reader->section, cie);
	}
	reader->last_cie_offset = offset;
	reader->last_cie = *index;
	return 0;
}

static bool parse_fde(struct cursor *cursor, const struct cfi_section *section, const struct cfi_cie *cie,
		      struct cfi_fde *fde)
{
	uint8_t encoding = cie->pointer_encoding;
	uint64_t size;
	if (cie->address_size == 4 && encoding == DW_EH_PE_absptr)
		encoding = DW_EH_PE_udata4;
	cursor_bytes(cursor, cie->segment_size);
	if (!cfi_pointer(cursor, section, encoding, &fde->start) ||
	    !cfi_number(cursor, encoding & DW_EH_PE_format, &size))
		return false;
	if (cie->has_augmentation_data)
		cursor_bytes(cursor, cursor_varint(cursor));
	if (cursor->failed || size > UINT64_MAX - fde->start)
		return false;
	fde->end = fde->start + size;
	fde->instructions = (uint32_t)(cursor->next - section->bytes);
	fde->instructions_size = (uint32_t)cursor_left(cursor);
	return true;
}

int cfi_reader_next(struct cfi_reader *reader, struct cfi_fde *fde)
{
	while (reader->next < reader->section.size) {
		struct entry entry = { 0 };
		if (!read_entry(reader, reader->next, &entry, &reader->next)) {
			/* Fewer bytes than a length are padding; more are an entry that is cut off. */
			reader->skipped += reader->section.size - reader->next >= sizeof(uint32_t);
			break;
		}
		if (cursor_left(&entry.rest) == 0 && !entry.rest.failed &&
		    reader->next - entry.offset == sizeof(uint32_t)) {
			if (reader->section.ends_at_zero)
				break;
			continue;
		}
		if (entry.is_cie)
			continue;
		int status = entry.rest.failed ? ERROR_CORRUPT : find_cie(reader, entry.cie_offset, &fde->cie);
		if (status == ERROR_MEMORY)
			return status;
		const struct cfi_cie *cie = status == 0 ? &reader->cies[fde->cie] : NULL;
		if (cie && cie->usable && parse_fde(&entry.rest, &reader->section, cie, fde))
			return 1;
		reader->skipped++;
	}
	return 0;
}
