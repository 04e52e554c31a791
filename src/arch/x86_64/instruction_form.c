/* Reads the forms of instructions. Method: the opcode maps of the AMD64 manual, volume 3, appendix A. */
#include "arch/x86_64/instruction_form.h"

#include <string.h>

/* The bytes that follow an opcode. */
enum {
	N = 0,   /* nothing */
	M = 1,   /* ModRM, and the bytes that it requires */
	B = 2,   /* 1 byte */
	Z = 4,   /* 4 bytes, 2 with a prefix of 66 */
	V = 8,   /* ... 8 with REX.W */
	W = 16,  /* 2 bytes */
	A = 32,  /* an address: 8 bytes, 4 with a prefix of 67 */
	G = 64,  /* F6, F7: as M, with an immediate if ModRM's reg is 0 or 1 */
	X = 128, /* no instruction */
	MB = M | B,
	MZ = M | Z,
};

/* clang-format off */
static const uint8_t one_byte[256] = {
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X, /* 00 */
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X,
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X, /* 20 */
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, /* 40: REX */
	N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
	X, X, X, M, X, X, X, X, Z, MZ, B, MB, N, N, N, N, /* 60 */
	B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
	MB, MZ, X, MB, M, M, M, M, M, M, M, M, M, M, M, M, /* 80 */
	N, N, N, N, N, N, N, N, N, N, X, N, N, N, N, N,
	A, A, A, A, N, N, N, N, B, Z, N, N, N, N, N, N, /* a0 */
	B, B, B, B, B, B, B, B, Z | V, Z | V, Z | V, Z | V, Z | V, Z | V, Z | V, Z | V,
	MB, MB, W, N, X, X, MB, MZ, W | B, N, W, N, N, B, X, N, /* c0 */
	M, M, M, M, X, X, X, N, M, M, M, M, M, M, M, M,
	B, B, B, B, B, B, B, B, Z, Z, X, B, N, N, N, N, /* e0 */
	X, N, X, X, N, N, M | G, M | G, N, N, N, N, N, N, M, M,
};

/* After 0f. */
static const uint8_t two_bytes[256] = {
	M, M, M, M, X, N, N, N, N, N, X, N, X, M, N, MB, /* 00 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, X, X, X, X, M, M, M, M, M, M, M, M, /* 20 */
	N, N, N, N, N, N, X, N, X, X, X, X, X, X, X, X,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 40 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 60 */
	MB, MB, MB, MB, M, M, M, N, M, M, M, M, M, M, M, M,
	Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, /* 80 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	N, N, N, M, MB, M, X, X, N, N, N, M, MB, M, M, M, /* a0 */
	M, M, M, M, M, M, M, M, M, M, MB, M, M, M, M, M,
	M, M, MB, M, MB, MB, MB, M, N, N, N, N, N, N, N, N, /* c0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* e0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};
/* clang-format on */

enum {
	LENGTH_MAX = 15,
	NOTRACK = 0x3e,
	REX_W = 8,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAPS_OF_WORDS = 5, /* EVEX: 5 and 6, half precision */
};

static uint8_t byte(struct instruction_form *form)
{
	if (form->at < form->left)
		return form->code[form->at++];
	form->at = LENGTH_MAX + 1;
	return 0;
}

static bool is_cut(const struct instruction_form *form)
{
	return form->at > form->left;
}

static void skip(struct instruction_form *form, size_t bytes)
{
	form->at += bytes;
}

int32_t instruction_form_word(const struct instruction_form *form, size_t at)
{
	int32_t word = 0;
	if (at + sizeof(word) <= form->left)
		memcpy(&word, form->code + at, sizeof(word));
	return word;
}

static bool is_prefix(uint8_t value)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3 };
	return memchr(prefixes, value, sizeof(prefixes)) != NULL;
}

/* c5, c4, 62: the following bytes contain registers, widths and the map. */
static uint8_t decode_vector(struct instruction_form *form, uint8_t escape)
{
	enum { VEX2 = 0xc5, VEX3 = 0xc4, VEX_MAP = 0x1f, EVEX_MAP = 7 };
	uint8_t first = byte(form);
	form->is_vector = true;
	form->map = escape == VEX2 ? MAP_0F : first & (escape == VEX3 ? VEX_MAP : EVEX_MAP);
	if (escape != VEX2)
		byte(form);
	if (escape != VEX2 && escape != VEX3)
		byte(form);
	return byte(form);
}

static void decode_opcode(struct instruction_form *form)
{
	enum {
		REX = 0x40,
		REX_MASK = 0xf0,
		ESCAPE = 0x0f,
		ESCAPE_38 = 0x38,
		ESCAPE_3A = 0x3a,
		VEX3 = 0xc4,
		VEX2 = 0xc5,
		EVEX = 0x62
	};
	uint8_t value = byte(form);
	for (; is_prefix(value) && !is_cut(form); value = byte(form)) {
		form->has_66 |= value == 0x66;
		form->has_67 |= value == 0x67;
		form->is_notrack |= value == NOTRACK;
	}
	if ((value & REX_MASK) == REX) {
		form->rex = value;
		form->is_wide = value & REX_W;
		value = byte(form);
	}
	if (value == VEX2 || value == VEX3 || value == EVEX) {
		value = decode_vector(form, value);
	} else if (value == ESCAPE) {
		form->map = MAP_0F;
		value = byte(form);
		if (value == ESCAPE_38 || value == ESCAPE_3A) {
			form->map = value == ESCAPE_38 ? MAP_0F38 : MAP_0F3A;
			value = byte(form);
		}
	}
	form->opcode = value;
}

static uint8_t shape_of(const struct instruction_form *form)
{
	enum { ZEROUPPER = 0x77 };
	switch (form->map) {
	case MAP_ONE_BYTE:
		return one_byte[form->opcode];
	case MAP_0F:
		if (form->is_vector && form->opcode != ZEROUPPER)
			return M | (two_bytes[form->opcode] & B);
		return two_bytes[form->opcode];
	case MAP_0F38:
	case MAPS_OF_WORDS:
	case MAPS_OF_WORDS + 1:
		return M;
	case MAP_0F3A:
		return MB;
	default:
		return X;
	}
}

static void decode_operand(struct instruction_form *form)
{
	enum { MOD_SHIFT = 6, REG_SHIFT = 3, THREE_BITS = 7, SIB = 4, NO_BASE = 5, REGISTER = 3, REX_B = 1 };
	uint8_t modrm = byte(form), base;
	form->mod = modrm >> MOD_SHIFT;
	form->reg = modrm >> REG_SHIFT & THREE_BITS;
	form->rm = base = modrm & THREE_BITS;
	if (form->mod == REGISTER)
		return;
	if (base == SIB) {
		uint8_t sib = byte(form);
		base = sib & THREE_BITS;
		form->scale = (uint8_t)(1 << (sib >> MOD_SHIFT));
		form->absolute = form->mod == 0 && base == NO_BASE;
	} else {
		form->relative = form->mod == 0 && base == NO_BASE;
	}
	form->displacement = instruction_form_word(form, form->at);
	if (form->mod == 1)
		skip(form, 1);
	else if (form->mod == 2 || base == NO_BASE)
		skip(form, form->mod == 2 || form->mod == 0 ? sizeof(int32_t) : 0);
}

static void decode_immediate(struct instruction_form *form, uint8_t shape)
{
	enum { BYTE_GROUP = 0xf6 };
	bool is_moved = shape & V;
	form->immediate = form->at;
	if (shape & G && form->reg < 2)
		shape |= form->opcode == BYTE_GROUP ? B : Z;
	if (shape & A)
		skip(form, form->has_67 ? sizeof(uint32_t) : sizeof(uint64_t));
	if (shape & Z && is_moved && form->is_wide)
		skip(form, sizeof(uint64_t));
	else if (shape & Z)
		skip(form, form->has_66 && !form->is_wide ? sizeof(uint16_t) : sizeof(uint32_t));
	if (shape & W)
		skip(form, sizeof(uint16_t));
	if (shape & B)
		skip(form, 1);
}

bool instruction_form_is_branch(const struct instruction_form *form)
{
	enum { CALL = 0xe8, JUMP = 0xe9, BRANCHES = 0x80, HIGH = 0xf0 };
	return (form->map == MAP_ONE_BYTE && (form->opcode == CALL || form->opcode == JUMP)) ||
	       (form->map == MAP_0F && !form->is_vector && (form->opcode & HIGH) == BRANCHES);
}

bool instruction_form_read(struct instruction_form *form, const uint8_t *code, size_t left, uint64_t address)
{
	*form = (struct instruction_form){ .code = code,
					   .left = left < LENGTH_MAX ? left : LENGTH_MAX,
					   .address = address };
	decode_opcode(form);
	uint8_t shape = is_cut(form) ? X : shape_of(form);
	if (shape == X)
		return false;
	if (instruction_form_is_branch(form))
		form->has_66 = false;
	if (shape & M)
		decode_operand(form);
	decode_immediate(form, shape);
	return !is_cut(form);
}
