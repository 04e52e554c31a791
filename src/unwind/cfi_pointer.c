/* Reads pointers of CFI in the encodings of .eh_frame (Linux Standard Base Core 5, 10.5). */
#include <dwarf.h>

#include "unwind/cfi.h"

enum { DW_EH_PE_format = 0x0f, DW_EH_PE_relation = 0x70 };

static uint64_t address_of(const struct cursor *cursor, const struct cfi_section *section)
{
	return section->address + (uint64_t)(cursor->next - section->bytes);
}

bool cfi_number(struct cursor *cursor, uint8_t format, uint64_t *value)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*value = cursor_u64(cursor);
		return true;
	case DW_EH_PE_uleb128:
		*value = cursor_varint(cursor);
		return true;
	case DW_EH_PE_udata2:
		*value = cursor_u16(cursor);
		return true;
	case DW_EH_PE_udata4:
		*value = cursor_u32(cursor);
		return true;
	case DW_EH_PE_sleb128:
		*value = (uint64_t)cursor_sleb128(cursor);
		return true;
	case DW_EH_PE_sdata2:
		*value = (uint64_t)(int64_t)(int16_t)cursor_u16(cursor);
		return true;
	case DW_EH_PE_sdata4:
		*value = (uint64_t)(int64_t)(int32_t)cursor_u32(cursor);
		return true;
	default:
		return false;
	}
}

static void align_to_8(struct cursor *cursor, const struct cfi_section *section)
{
	cursor_bytes(cursor, -address_of(cursor, section) & 7);
}

bool cfi_pointer(struct cursor *cursor, const struct cfi_section *section, uint8_t encoding, uint64_t *value)
{
	if (encoding == DW_EH_PE_omit || (encoding & DW_EH_PE_indirect))
		return false;
	if (encoding == DW_EH_PE_aligned) {
		align_to_8(cursor, section);
		*value = cursor_u64(cursor);
		return !cursor->failed;
	}
	uint64_t here = address_of(cursor, section);
	if (!cfi_number(cursor, encoding & DW_EH_PE_format, value) || cursor->failed)
		return false;
	switch (encoding & DW_EH_PE_relation) {
	case DW_EH_PE_absptr:
		return true;
	case DW_EH_PE_pcrel:
		*value += here;
		return true;
	case DW_EH_PE_datarel:
		/* Only .eh_frame_hdr has a data base. */
		*value += section->address;
		return !section->is_eh_frame;
	default:
		return false;
	}
}

bool cfi_skip_pointer(struct cursor *cursor, const struct cfi_section *section, uint8_t encoding)
{
	uint64_t value;
	if (encoding == DW_EH_PE_omit)
		return true;
	if ((encoding & 0x7f) == DW_EH_PE_aligned) {
		align_to_8(cursor, section);
		cursor_u64(cursor);
		return !cursor->failed;
	}
	return cfi_number(cursor, encoding & DW_EH_PE_format, &value) && !cursor->failed;
}
