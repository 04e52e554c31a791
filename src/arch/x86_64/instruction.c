/* Decodes an instruction: its length, where it leads, and the memory that it names. Method: the opcode maps of the AMD64 manual,
 * volume 3, appendix A. */
#include "arch/instruction.h"

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
	MAP_ONE_BYTE = 0,
	MAP_0F = 1,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAPS_OF_WORDS = 5, /* EVEX: 5 and 6, half precision */
	REGISTER_DI = 7,
};

struct decoder {
	const uint8_t *code;
	size_t left; /* at most LENGTH_MAX */
	size_t at;
	uint64_t address;
	bool has_66, has_67, is_notrack, is_wide, is_vector;
	uint8_t map, opcode, rex;
	uint8_t mod, reg, rm;
	bool relative; /* the operand is at the instruction's end + `displacement` */
	bool absolute; /* the operand is at `displacement`, perhaps with an index */
	uint8_t scale; /* factor of that index */
	int32_t displacement;
	size_t immediate; /* its offset */
};

static uint8_t byte(struct decoder *decoder)
{
	if (decoder->at < decoder->left)
		return decoder->code[decoder->at++];
	decoder->at = LENGTH_MAX + 1;
	return 0;
}

static bool is_cut(const struct decoder *decoder)
{
	return decoder->at > decoder->left;
}

static void skip(struct decoder *decoder, size_t bytes)
{
	decoder->at += bytes;
}

static int32_t word_at(const struct decoder *decoder, size_t at)
{
	int32_t word = 0;
	if (at + sizeof(word) <= decoder->left)
		memcpy(&word, decoder->code + at, sizeof(word));
	return word;
}

static bool is_prefix(uint8_t value)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3 };
	return memchr(prefixes, value, sizeof(prefixes)) != NULL;
}

/* c5, c4, 62: the following bytes contain registers, widths and the map. */
static uint8_t decode_vector(struct decoder *decoder, uint8_t escape)
{
	enum { VEX2 = 0xc5, VEX3 = 0xc4, VEX_MAP = 0x1f, EVEX_MAP = 7 };
	uint8_t first = byte(decoder);
	decoder->is_vector = true;
	decoder->map = escape == VEX2 ? MAP_0F : first & (escape == VEX3 ? VEX_MAP : EVEX_MAP);
	if (escape != VEX2)
		byte(decoder);
	if (escape != VEX2 && escape != VEX3)
		byte(decoder);
	return byte(decoder);
}

static void decode_opcode(struct decoder *decoder)
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
	uint8_t value = byte(decoder);
	for (; is_prefix(value) && !is_cut(decoder); value = byte(decoder)) {
		decoder->has_66 |= value == 0x66;
		decoder->has_67 |= value == 0x67;
		decoder->is_notrack |= value == NOTRACK;
	}
	if ((value & REX_MASK) == REX) {
		decoder->rex = value;
		decoder->is_wide = value & REX_W;
		value = byte(decoder);
	}
	if (value == VEX2 || value == VEX3 || value == EVEX) {
		value = decode_vector(decoder, value);
	} else if (value == ESCAPE) {
		decoder->map = MAP_0F;
		value = byte(decoder);
		if (value == ESCAPE_38 || value == ESCAPE_3A) {
			decoder->map = value == ESCAPE_38 ? MAP_0F38 : MAP_0F3A;
			value = byte(decoder);
		}
	}
	decoder->opcode = value;
}

static uint8_t shape_of(const struct decoder *decoder)
{
	enum { ZEROUPPER = 0x77 };
	switch (decoder->map) {
	case MAP_ONE_BYTE:
		return one_byte[decoder->opcode];
	case MAP_0F:
		if (decoder->is_vector && decoder->opcode != ZEROUPPER)
			return M | (two_bytes[decoder->opcode] & B);
		return two_bytes[decoder->opcode];
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

static void decode_operand(struct decoder *decoder)
{
	enum { MOD_SHIFT = 6, REG_SHIFT = 3, THREE_BITS = 7, SIB = 4, NO_BASE = 5, REGISTER = 3, REX_B = 1 };
	uint8_t modrm = byte(decoder), base;
	decoder->mod = modrm >> MOD_SHIFT;
	decoder->reg = modrm >> REG_SHIFT & THREE_BITS;
	decoder->rm = base = modrm & THREE_BITS;
	if (decoder->mod == REGISTER)
		return;
	if (base == SIB) {
		uint8_t sib = byte(decoder);
		base = sib & THREE_BITS;
		decoder->scale = (uint8_t)(1 << (sib >> MOD_SHIFT));
		decoder->absolute = decoder->mod == 0 && base == NO_BASE;
	} else {
		decoder->relative = decoder->mod == 0 && base == NO_BASE;
	}
	decoder->displacement = word_at(decoder, decoder->at);
	if (decoder->mod == 1)
		skip(decoder, 1);
	else if (decoder->mod == 2 || base == NO_BASE)
		skip(decoder, decoder->mod == 2 || decoder->mod == 0 ? sizeof(int32_t) : 0);
}

static void decode_immediate(struct decoder *decoder, uint8_t shape)
{
	enum { BYTE_GROUP = 0xf6 };
	bool is_moved = shape & V;
	decoder->immediate = decoder->at;
	if (shape & G && decoder->reg < 2)
		shape |= decoder->opcode == BYTE_GROUP ? B : Z;
	if (shape & A)
		skip(decoder, decoder->has_67 ? sizeof(uint32_t) : sizeof(uint64_t));
	if (shape & Z && is_moved && decoder->is_wide)
		skip(decoder, sizeof(uint64_t));
	else if (shape & Z)
		skip(decoder, decoder->has_66 && !decoder->is_wide ? sizeof(uint16_t) : sizeof(uint32_t));
	if (shape & W)
		skip(decoder, sizeof(uint16_t));
	if (shape & B)
		skip(decoder, 1);
}

/* Returns whether the instruction is a near branch: those have 32-bit displacements whatever their prefixes are. */
static bool is_branch(const struct decoder *decoder)
{
	enum { CALL = 0xe8, JUMP = 0xe9, BRANCHES = 0x80, HIGH = 0xf0 };
	return (decoder->map == MAP_ONE_BYTE && (decoder->opcode == CALL || decoder->opcode == JUMP)) ||
	       (decoder->map == MAP_0F && !decoder->is_vector && (decoder->opcode & HIGH) == BRANCHES);
}

/* --- the meaning of the instruction --- */

static void lead_to(const struct decoder *decoder, struct instruction *instruction, uint8_t flow, bool is_short)
{
	int64_t distance = is_short ? (int8_t)decoder->code[decoder->immediate] : word_at(decoder, decoder->immediate);
	instruction->flow = flow;
	instruction->has_target = true;
	instruction->target = decoder->address + decoder->at + (uint64_t)distance;
}

static void explain_one_byte(const struct decoder *decoder, struct instruction *instruction)
{
	enum { CALL_REG = 2, FAR_CALL_REG, JUMP_REG, FAR_JUMP_REG };
	switch (decoder->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		lead_to(decoder, instruction, INSTRUCTION_BRANCH, true);
		break;
	case 0xe8:
		lead_to(decoder, instruction, INSTRUCTION_CALL, false);
		break;
	case 0xe9:
		lead_to(decoder, instruction, INSTRUCTION_JUMP, false);
		break;
	case 0xeb:
		lead_to(decoder, instruction, INSTRUCTION_JUMP, true);
		break;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xf4:
		instruction->flow = INSTRUCTION_END;
		break;
	case 0xff:
		if (decoder->reg == CALL_REG || decoder->reg == FAR_CALL_REG)
			instruction->flow = INSTRUCTION_CALL;
		else if (decoder->reg == JUMP_REG || decoder->reg == FAR_JUMP_REG)
			instruction->flow = INSTRUCTION_INDIRECT;
		break;
	default:
		break;
	}
}

/* Returns whether it is lea, mov or add of an address or a constant to rdi or edi. */
static bool sets_first_argument(const struct decoder *decoder)
{
	enum { REX_HIGH = 7, LEA = 0x8d, MOVE = 0xbf, MOVE_WIDE = 0xc7, ADD_BYTE = 0x83, ADD = 0x81, REGISTER = 3 };
	if (decoder->map != MAP_ONE_BYTE || decoder->is_vector || decoder->rex & REX_HIGH)
		return false;
	switch (decoder->opcode) {
	case LEA:
		return decoder->reg == REGISTER_DI && (decoder->relative || decoder->absolute);
	case MOVE:
		return true;
	case MOVE_WIDE:
	case ADD_BYTE:
	case ADD:
		return decoder->mod == REGISTER && decoder->rm == REGISTER_DI && decoder->reg == 0;
	default:
		return false;
	}
}

/* Returns whether it is pop, leave, add to rsp, or mov of rbx or r12 to r15 from the frame; or whether it takes the
 * result from rbx, where gcc keeps it during the call of a hook. */
static bool restores(const struct decoder *decoder)
{
	enum {
		POP = 0x58,
		POP_LAST = 0x5f,
		LEAVE = 0xc9,
		ADD_BYTE = 0x83,
		ADD = 0x81,
		LOAD = 0x8b,
		MOVE = 0x89,
		MOVE_VECTOR = 0x6e,
		REGISTER = 3,
		AX = 0,
		BX = 3,
		SP = 4,
		BP = 5,
		REX_B = 1,
		REX_R = 4
	};
	bool of_bx = decoder->mod == REGISTER && !(decoder->rex & (REX_B | REX_R));
	if (decoder->map == MAP_0F && decoder->opcode == MOVE_VECTOR)
		return of_bx && decoder->rm == BX;
	if (decoder->map != MAP_ONE_BYTE || decoder->is_vector)
		return false;
	switch (decoder->opcode) {
	case POP ... POP_LAST:
	case LEAVE:
		return true;
	case ADD_BYTE:
	case ADD:
		return decoder->mod == REGISTER && decoder->reg == 0 && decoder->rm == SP && decoder->is_wide;
	case LOAD:
		return decoder->is_wide && (decoder->mod == 1 || decoder->mod == 2) && decoder->rm == BP &&
		       !(decoder->rex & REX_B) && (decoder->rex & REX_R ? decoder->reg >= SP : decoder->reg == BX);
	case MOVE:
		return of_bx && decoder->reg == BX && decoder->rm == AX;
	default:
		return false;
	}
}

/* Explains what the code of a switch consists of: add of registers, mov from memory, jmp to a register. */
static void explain_registers(const struct decoder *decoder, struct instruction *instruction)
{
	enum { ADD = 0x01, ADD_TO_REG = 0x03, LOAD = 0x8b, JUMP = 0xff, REGISTER = 3, REX_B = 1, REX_R = 4, HIGH = 8 };
	uint8_t reg = decoder->reg + 1 + (decoder->rex & REX_R ? HIGH : 0);
	uint8_t rm = decoder->rm + 1 + (decoder->rex & REX_B ? HIGH : 0);
	bool is_register = decoder->mod == REGISTER;
	if (decoder->map != MAP_ONE_BYTE || decoder->is_vector)
		return;
	if (is_register && decoder->is_wide && (decoder->opcode == ADD || decoder->opcode == ADD_TO_REG))
		instruction->gets_sum = decoder->opcode == ADD ? rm : reg;
	else if (!is_register && decoder->is_wide && decoder->opcode == LOAD)
		instruction->gets_memory = reg;
	else if (is_register && decoder->opcode == JUMP && instruction->flow == INSTRUCTION_INDIRECT)
		instruction->jumps_to = rm;
	instruction->is_of_switch = instruction->flow == INSTRUCTION_INDIRECT && decoder->is_notrack;
}

/* Returns whether it is nop with any prefixes and operand, or int3. */
static bool is_padding(const struct decoder *decoder)
{
	enum { NOP = 0x90, TRAP = 0xcc, LONG_NOP = 0x1f, REX_B = 1 };
	if (decoder->is_vector)
		return false;
	if (decoder->map == MAP_ONE_BYTE)
		return (decoder->opcode == NOP && !(decoder->rex & REX_B)) || decoder->opcode == TRAP;
	return decoder->map == MAP_0F && decoder->opcode == LONG_NOP;
}

static void explain(const struct decoder *decoder, struct instruction *instruction)
{
	enum { LEA = 0x8d, TRAP = 0x0b, POINTER = 8 };
	if (decoder->map == MAP_ONE_BYTE)
		explain_one_byte(decoder, instruction);
	else if (is_branch(decoder))
		lead_to(decoder, instruction, INSTRUCTION_BRANCH, false);
	else if (decoder->map == MAP_0F && !decoder->is_vector && decoder->opcode == TRAP)
		instruction->flow = INSTRUCTION_END;
	instruction->is_padding = is_padding(decoder);
	instruction->restores = restores(decoder);
	instruction->sets_first_argument = sets_first_argument(decoder);
	if (decoder->relative)
		instruction->memory = decoder->address + decoder->at + (uint64_t)(int64_t)decoder->displacement;
	else if (decoder->absolute)
		instruction->memory = (uint64_t)(int64_t)decoder->displacement;
	instruction->takes_address = decoder->map == MAP_ONE_BYTE && decoder->opcode == LEA && decoder->relative;
	instruction->indexes_by_8 = decoder->absolute && decoder->scale == POINTER;
	explain_registers(decoder, instruction);
}

bool instruction_decode(const uint8_t *code, size_t left, uint64_t address, struct instruction *instruction)
{
	struct decoder decoder = { .code = code, .left = left < LENGTH_MAX ? left : LENGTH_MAX, .address = address };
	*instruction = (struct instruction){ .flow = INSTRUCTION_NEXT };
	decode_opcode(&decoder);
	uint8_t shape = is_cut(&decoder) ? X : shape_of(&decoder);
	if (shape == X)
		return false;
	if (is_branch(&decoder))
		decoder.has_66 = false;
	if (shape & M)
		decode_operand(&decoder);
	decode_immediate(&decoder, shape);
	if (is_cut(&decoder))
		return false;
	instruction->bytes = (uint8_t)decoder.at;
	explain(&decoder, instruction);
	return true;
}
