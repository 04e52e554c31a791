/*
 * Finds the range of a function's code in the module's unwind table. Compilers write this table for exceptions; it
 * is mapped with the code, sorted, and read without a lock:
 *
 *	.eh_frame_hdr   version 1, three encodings | .eh_frame | count | { start, FDE } ...   sorted by start
 *	FDE             length | distance to its CIE | start | bytes of code | ...
 *	CIE             length | 0 | version | "zPLR" | ... | how a start is encoded ('R')
 *
 * The program's own exceptions use the same tables, so their content is trusted within the mapping of their file.
 */
#include <string.h>

#include "base/lower_bound.h"
#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"

enum { /* DW_EH_PE_... */
       FORMAT = 0x0f,
       ABSOLUTE = 0x00,
       UDATA2 = 0x02,
       UDATA4 = 0x03,
       UDATA8 = 0x04,
       SDATA2 = 0x0a,
       SDATA4 = 0x0b,
       SDATA8 = 0x0c,
       SORTED = 0x3b, /* as linkers write it: signed 32-bit words, relative to .eh_frame_hdr */
};

struct table_entry {
	int32_t start, fde; /* relative to .eh_frame_hdr */
};

struct table_head {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
	struct table_entry entries[];
};

/* Returns the bytes of a number in this encoding, or 0 if its size is unknown. */
static uint64_t bytes_of(uint8_t encoding)
{
	switch (encoding & FORMAT) {
	case UDATA2:
	case SDATA2:
		return 2;
	case UDATA4:
	case SDATA4:
		return 4;
	case ABSOLUTE:
	case UDATA8:
	case SDATA8:
		return 8;
	default:
		return 0;
	}
}

static const uint8_t *skip_leb(const uint8_t *at)
{
	while (*at & 0x80)
		at++;
	return at + 1;
}

/* Returns the encoding of addresses in a CIE's FDEs, or 0xff if it is unknown. */
static uint8_t encoding_of(const uint8_t *cie)
{
	enum { VERSION_AT = 8, NOT_KNOWN = 0xff };
	uint8_t version = cie[VERSION_AT];
	const char *letters = (const char *)cie + VERSION_AT + 1;
	const uint8_t *at = (const uint8_t *)letters + strlen(letters) + 1;
	if (letters[0] != 'z')
		return letters[0] == 0 ? ABSOLUTE : NOT_KNOWN;
	at = skip_leb(skip_leb(at));               /* alignment factors */
	at = version == 1 ? at + 1 : skip_leb(at); /* return address */
	at = skip_leb(at);                         /* length of what follows */
	for (letters++; *letters; letters++) {
		if (*letters == 'R')
			return *at;
		if (*letters == 'P' && bytes_of(*at))
			at += 1 + bytes_of(*at);
		else if (*letters == 'L')
			at++;
		else if (*letters != 'S' && *letters != 'B')
			return NOT_KNOWN;
	}
	return ABSOLUTE;
}

/* Returns the bytes of code that an FDE covers, or 0 if unknown. */
static uint64_t code_bytes(const uint8_t *fde)
{
	enum { CIE_AT = 4, START_AT = 8 };
	uint32_t length, distance;
	memcpy(&length, fde, sizeof(length));
	memcpy(&distance, fde + CIE_AT, sizeof(distance));
	if (length == 0 || length == UINT32_MAX || distance == 0)
		return 0;
	uint64_t width = bytes_of(encoding_of(fde + CIE_AT - distance));
	uint64_t bytes = 0;
	if (width)
		memcpy(&bytes, fde + START_AT + width, width);
	return bytes;
}

/* Returns true if the FDE covers a part of a function that the compiler has placed apart from the function's start.
 * Such a part has a stack frame from its first byte on, so its instructions do not begin with an advance. (A
 * function that calls others has a stack frame too, but not at its first byte.) */
static bool is_part(const uint8_t *fde)
{
	enum {
		CIE_AT = 4,
		START_AT = 8,
		NO_OPERATION = 0,
		ADVANCE = 0x40,
		LOCATION = 0xc0,
		ADVANCE_FIRST = 2,
		ADVANCE_LAST = 4
	};
	uint32_t length, distance;
	memcpy(&length, fde, sizeof(length));
	memcpy(&distance, fde + CIE_AT, sizeof(distance));
	const uint8_t *cie = fde + CIE_AT - distance, *end = fde + sizeof(length) + length;
	const uint8_t *at = fde + START_AT + 2 * bytes_of(encoding_of(cie));
	if (cie[CIE_AT + sizeof(distance) + 1] != 'z')
		return false;
	uint64_t augmentation = 0;
	for (uint32_t shift = 0; at < end; shift += 7) {
		augmentation |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at++ & 0x80))
			break;
	}
	if (augmentation < (uint64_t)(end - at))
		at += augmentation;
	while (at < end && *at == NO_OPERATION)
		at++;
	if (at >= end)
		return false;
	bool advances = (*at & LOCATION) == ADVANCE || (*at >= ADVANCE_FIRST && *at <= ADVANCE_LAST);
	return !advances;
}

/* Returns the last entry that begins at or before `address`, or NULL if none does. */
static const struct table_entry *find_entry(const struct table_head *head, uint64_t address)
{
	int64_t wanted = (int64_t)(address - (uint64_t)(uintptr_t)head);
	size_t begun = LOWER_BOUND(i, 0, head->count, head->entries[i].start <= wanted);
	return begun ? &head->entries[begun - 1] : NULL;
}

_Thread_local uint64_t hooks_asking __attribute__((tls_model("initial-exec")));

/* Queries the dynamic linker. Samples of the time that it takes are charged to cpprof. */
static bool query_linker(uint64_t address, struct dl_find_object *found)
{
	hooks_asking = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	bool is_known = real_find_object(address, found);
	hooks_asking = 0;
	return is_known;
}

/* Finds the FDE of the code at `address` and its range. Returns NULL if none is found. */
static const uint8_t *find_fde(uint64_t address, uint64_t *start, uint64_t *end)
{
	struct dl_find_object found;
	if (!query_linker(address, &found) || !found.dlfo_eh_frame)
		return NULL;
	const struct table_head *head = found.dlfo_eh_frame;
	if (head->version != 1 || bytes_of(head->frame_encoding) != sizeof(head->frame) ||
	    bytes_of(head->count_encoding) != sizeof(head->count) || head->table_encoding != SORTED)
		return NULL;
	const struct table_entry *entry = find_entry(head, address);
	const uint8_t *fde = entry ? (const uint8_t *)head + entry->fde : NULL;
	if (!fde || fde < (const uint8_t *)found.dlfo_map_start || fde >= (const uint8_t *)found.dlfo_map_end)
		return NULL;
	*start = (uint64_t)((int64_t)(uintptr_t)head + entry->start);
	*end = *start + code_bytes(fde);
	return address < *end ? fde : NULL;
}

bool hooks_function_bounds(uint64_t address, uint64_t *start, uint64_t *end)
{
	return find_fde(address, start, end) != NULL;
}

bool hooks_is_function_part(uint64_t address)
{
	uint64_t start, end;
	const uint8_t *fde = find_fde(address, &start, &end);
	return fde && is_part(fde);
}
