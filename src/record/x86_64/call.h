/* Which call instruction ends in front of a return address (Intel SDM vol. 2A,
 * CALL; the forms that compilers use). */
#ifndef RECORD_X86_64_CALL_H
#define RECORD_X86_64_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { CALL_DIRECT_BYTES = 5, CALL_LONGEST_BYTES = 8 };

/* `code` holds the CALL_LONGEST_BYTES before the return address. A direct call
 * (e8 rel32): the distance from the return address to its target. */
static inline bool call_is_direct(const uint8_t *code, int32_t *distance)
{
	const uint8_t *call = code + CALL_LONGEST_BYTES - CALL_DIRECT_BYTES;
	memcpy(distance, call + 1, sizeof(*distance));
	return call[0] == 0xe8;
}

/* An indirect call, ff /2, is 2 to 7 bytes long without a prefix: opcode, ModRM,
 * and as many bytes of SIB and displacement as that ModRM asks for. */
static inline bool call_is_indirect(const uint8_t *code)
{
	for (int length = 2; length < CALL_LONGEST_BYTES; length++) {
		const uint8_t *call = code + CALL_LONGEST_BYTES - length;
		int mode = call[1] >> 6;
		int base = call[1] & 7;
		int has_sib = mode != 3 && base == 4;
		int displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;
		if (has_sib && mode == 0 && length > 2 && (call[2] & 7) == 5)
			displacement = 4;
		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2 && length == 2 + has_sib + displacement)
			return true;
	}
	return false;
}

/* A stub that jumps on through a table: endbr64 or not, then jmp *m (ff 25). */
static inline bool call_target_is_stub(const uint8_t *code, size_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	at += at < size && code[at] == 0xf2; /* bnd */
	return at + 1 < size && code[at] == 0xff && code[at + 1] == 0x25;
}

#endif
