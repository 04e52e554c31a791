/* Method: each instruction that can write rsp or rbp is in one of the tables below (AMD64
 * manual, volume 3). Those with a meaning for frames have an effect of their own, the others
 * lose the register that they write. */
#include "arch/stack_effect.h"

#include <stdbool.h>
#include <string.h>

enum { SP = 4, BP = 5, WORD = 8, REGISTER = 3, REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

/* An instruction, up to its displacement. */
struct parts {
	uint8_t rex, map, opcode;
	bool is_vector, is_short; /* is_short: a prefix 66 */
	uint8_t vvvv;             /* of a vector prefix: a register that general instructions write */
	uint8_t mod, reg, rm, base;
	bool has_index;
	int32_t displacement;
	const uint8_t *rest; /* behind the displacement: an immediate */
	size_t left;
};

static int32_t signed_byte(uint8_t byte)
{
	return byte <= INT8_MAX ? byte : byte - (UINT8_MAX + 1);
}

static uint8_t take(const uint8_t **at, size_t *left)
{
	if (*left == 0)
		return 0;
	--*left;
	return *(*at)++;
}

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3 };
	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* The first bytes after c5, c4 and 62 have R, X and B inverted; the map and vvvv (inverted, too) follow. */
static void read_vector(struct parts *parts, uint8_t escape, const uint8_t **at, size_t *left)
{
	enum {
		VEX2 = 0xc5,
		EVEX = 0x62,
		MAP_BITS = 0x1f,
		EVEX_MAP_BITS = 7,
		INVERTED_SHIFT = 5,
		VVVV_SHIFT = 3,
		NIBBLE = 15
	};
	uint8_t first = take(at, left);
	uint8_t second = escape == VEX2 ? first : take(at, left);
	parts->is_vector = true;
	parts->rex = (uint8_t)(~first >> INVERTED_SHIFT & (escape == VEX2 ? REX_R : REX_R | REX_X | REX_B));
	parts->map = escape == VEX2 ? 1 : first & (escape == EVEX ? EVEX_MAP_BITS : MAP_BITS);
	parts->vvvv = (uint8_t)(~second >> VVVV_SHIFT & NIBBLE);
	if (escape == EVEX)
		take(at, left);
	parts->opcode = take(at, left);
}

static void read_opcode(struct parts *parts, const uint8_t **at, size_t *left)
{
	enum { REX_MASK = 0xf0, REX = 0x40, ESCAPE = 0x0f, ESCAPE_38 = 0x38, ESCAPE_3A = 0x3a };
	uint8_t byte = take(at, left);
	for (; is_prefix(byte) && *left > 0; byte = take(at, left))
		parts->is_short |= byte == 0x66;
	if ((byte & REX_MASK) == REX) {
		parts->rex = byte;
		byte = take(at, left);
	}
	if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) {
		read_vector(parts, byte, at, left);
		return;
	}
	if (byte == ESCAPE) {
		parts->map = 1;
		byte = take(at, left);
		if (byte == ESCAPE_38 || byte == ESCAPE_3A) {
			parts->map = byte == ESCAPE_38 ? 2 : 3;
			byte = take(at, left);
		}
	}
	parts->opcode = byte;
}

/* Reads ModRM, SIB and displacement, also where the opcode has none: such opcodes do not use them. */
static struct parts parts_of(const uint8_t *code, size_t size)
{
	enum { HIGH = 8, SIB = 4, THREE_BITS = 7, MOD_SHIFT = 6, REG_SHIFT = 3 };
	struct parts parts = { 0 };
	read_opcode(&parts, &code, &size);
	parts.rest = code;
	parts.left = size;
	uint8_t modrm = take(&code, &size);
	parts.mod = modrm >> MOD_SHIFT;
	parts.reg = (uint8_t)((modrm >> REG_SHIFT & THREE_BITS) + (parts.rex & REX_R ? HIGH : 0));
	parts.rm = (uint8_t)((modrm & THREE_BITS) + (parts.rex & REX_B ? HIGH : 0));
	parts.base = parts.rm;
	if (parts.mod != REGISTER && (modrm & THREE_BITS) == SIB) {
		uint8_t sib = take(&code, &size);
		parts.base = (uint8_t)((sib & THREE_BITS) + (parts.rex & REX_B ? HIGH : 0));
		parts.has_index = (sib >> REG_SHIFT & THREE_BITS) != SIB || parts.rex & REX_X;
	}
	if (parts.mod == 1 && size >= 1)
		parts.displacement = signed_byte(code[0]);
	if (parts.mod == 2 && size >= sizeof(parts.displacement))
		memcpy(&parts.displacement, code, sizeof(parts.displacement));
	return parts;
}

static struct stack_effect effect(enum stack_effect_kind kind, int32_t amount)
{
	return (struct stack_effect){ .kind = (uint8_t)kind, .amount = amount };
}

/* The effect of a write of an unknown value. */
static struct stack_effect writes(uint8_t number)
{
	if (number == SP)
		return effect(STACK_LOSES_SP, 0);
	return effect(number == BP ? STACK_LOSES_FP : STACK_KEEPS, 0);
}

static struct stack_effect writes_rm(const struct parts *parts)
{
	return writes(parts->mod == REGISTER ? parts->rm : UINT8_MAX);
}

/* Two registers that may be written. */
static struct stack_effect writes_both(const struct parts *parts)
{
	struct stack_effect first = writes(parts->reg), second = writes_rm(parts);
	return first.kind == STACK_LOSES_SP || second.kind == STACK_KEEPS ? first : second;
}

/* mov FROM, TO of whole registers. */
static struct stack_effect moves(const struct parts *parts, uint8_t from, uint8_t to)
{
	if (!(parts->rex & REX_W))
		return writes(to);
	if (to == BP && from == SP)
		return effect(STACK_SETS_FP, 0);
	if (to == SP && from == BP)
		return effect(STACK_SETS_SP, 0);
	return writes(to);
}

static bool is_at_sp(const struct parts *parts)
{
	return parts->mod != REGISTER && parts->base == SP && !parts->has_index && (parts->rm & 7) == SP;
}

static struct stack_effect load(const struct parts *parts)
{
	if (parts->mod == REGISTER)
		return moves(parts, parts->rm, parts->reg);
	if (parts->reg == BP && parts->rex & REX_W && is_at_sp(parts))
		return effect(STACK_LOADS_FP, parts->displacement);
	return writes(parts->reg);
}

static struct stack_effect store(const struct parts *parts)
{
	if (parts->mod == REGISTER)
		return moves(parts, parts->reg, parts->rm);
	if (parts->reg == BP && parts->rex & REX_W && is_at_sp(parts))
		return effect(STACK_STORES_FP, parts->displacement);
	return effect(STACK_KEEPS, 0);
}

static struct stack_effect lea(const struct parts *parts)
{
	bool is_plain = parts->rex & REX_W && !parts->has_index;
	bool by_bp = parts->mod != 0 && parts->base == BP && (parts->rm & 7) != SP;
	if (is_plain && is_at_sp(parts) && parts->reg == SP)
		return effect(STACK_MOVES, parts->displacement);
	if (is_plain && is_at_sp(parts) && parts->reg == BP)
		return effect(STACK_SETS_FP, parts->displacement);
	if (is_plain && by_bp && parts->reg == SP)
		return effect(STACK_SETS_SP, parts->displacement);
	return writes(parts->reg);
}

/* 81 and 83: an immediate of 4 bytes or 1; /0 is add, /5 sub, /7 cmp. */
static struct stack_effect arithmetic(const struct parts *parts)
{
	enum { BYTE_IMMEDIATE = 0x83, ADD = 0, SUBTRACT = 5, COMPARE = 7, REG_BITS = 7 };
	uint8_t operation = parts->reg & REG_BITS;
	int32_t amount = 0;
	if (operation == COMPARE || parts->mod != REGISTER || (parts->rm != SP && parts->rm != BP))
		return effect(STACK_KEEPS, 0);
	if (parts->rm == BP || !(parts->rex & REX_W) || (operation != ADD && operation != SUBTRACT))
		return writes(parts->rm);
	const uint8_t *immediate = parts->rest + 1; /* behind ModRM */
	if (parts->opcode == BYTE_IMMEDIATE && parts->left > 1)
		amount = signed_byte(immediate[0]);
	else if (parts->left > sizeof(amount))
		memcpy(&amount, immediate, sizeof(amount));
	return effect(STACK_MOVES, operation == ADD ? amount : -amount);
}

/* ff: inc, dec, calls, jumps, push. */
static struct stack_effect group_ff(const struct parts *parts)
{
	enum { DECREMENT = 1, PUSH = 6, REG_BITS = 7 };
	uint8_t operation = parts->reg & REG_BITS;
	if (operation <= DECREMENT)
		return writes_rm(parts);
	return operation == PUSH ? effect(STACK_MOVES, -WORD) : effect(STACK_KEEPS, 0);
}

static struct stack_effect push_or_pop(const struct parts *parts)
{
	enum { POP = 8, REGISTERS = 8, LOW = 7 };
	uint8_t number = (uint8_t)((parts->opcode & LOW) + (parts->rex & REX_B ? REGISTERS : 0));
	bool is_pop = parts->opcode & POP;
	if (parts->is_short || (is_pop && number == SP))
		return effect(STACK_LOSES_SP, 0);
	if (number == BP)
		return effect(is_pop ? STACK_POPS_FP : STACK_PUSHES_FP, 0);
	return effect(STACK_MOVES, is_pop ? WORD : -WORD);
}

static struct stack_effect one_byte(const struct parts *parts)
{
	enum { REGISTERS = 8, LOW = 7 };
	uint8_t in_opcode = (uint8_t)((parts->opcode & LOW) + (parts->rex & REX_B ? REGISTERS : 0));
	switch (parts->opcode) {
	case 0x00 ... 0x37: /* add, or, adc, sbb, and, sub, xor: the forms with ModRM */
		if ((parts->opcode & LOW) <= 1)
			return writes_rm(parts);
		return (parts->opcode & LOW) <= 3 ? writes(parts->reg) : effect(STACK_KEEPS, 0);
	case 0x50 ... 0x5f:
		return push_or_pop(parts);
	case 0x63: /* movsxd */
	case 0x69: /* imul */
	case 0x6b:
		return writes(parts->reg);
	case 0x68:
	case 0x6a:
	case 0x9c: /* pushf */
		return effect(STACK_MOVES, -WORD);
	case 0x9d: /* popf */
		return effect(STACK_MOVES, WORD);
	case 0x80:
	case 0x81:
	case 0x83:
		return arithmetic(parts);
	case 0x86: /* xchg */
	case 0x87:
		return writes_both(parts);
	case 0x88:
	case 0x89:
		return store(parts);
	case 0x8a:
	case 0x8b:
		return load(parts);
	case 0x8d:
		return lea(parts);
	case 0x8f: /* pop to memory */
		return parts->mod == REGISTER ? effect(STACK_LOSES_SP, 0) : effect(STACK_MOVES, WORD);
	case 0x91 ... 0x97: /* xchg with rax */
	case 0xb0 ... 0xbf: /* mov of a constant */
		return writes(in_opcode);
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xd0 ... 0xd3:
	case 0xc6: /* mov of a constant */
	case 0xc7:
	case 0xfe: /* inc, dec */
		return writes_rm(parts);
	case 0xf6: /* test, not, neg, mul, div */
	case 0xf7:
		return (parts->reg & LOW) == 2 || (parts->reg & LOW) == 3 ? writes_rm(parts) : effect(STACK_KEEPS, 0);
	case 0xc2: /* ret with a number */
	case 0xc8: /* enter */
	case 0xca:
	case 0xcb:
	case 0xcf:
		return effect(STACK_LOSES_SP, 0);
	case 0xc9:
		return effect(STACK_LEAVES, 0);
	case 0xff:
		return group_ff(parts);
	default:
		return effect(STACK_KEEPS, 0);
	}
}

static struct stack_effect two_bytes(const struct parts *parts)
{
	enum { LOW = 7, REGISTERS = 8 };
	switch (parts->opcode) {
	case 0x02: /* lar, lsl */
	case 0x03:
	case 0x2c: /* cvtt.. and cvt.. of floating point to a register */
	case 0x2d:
	case 0x40 ... 0x4f: /* cmov */
	case 0x50:          /* movmsk */
	case 0xaf:          /* imul */
	case 0xb6:          /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
	case 0xb8: /* popcnt, bsf, bsr */
	case 0xbc:
	case 0xbd:
	case 0xc5: /* pextrw */
	case 0xd7: /* pmovmskb */
		return writes(parts->reg);
	case 0x7e:          /* movd, movq */
	case 0x90 ... 0x9f: /* setcc */
	case 0xa4:          /* shld, shrd */
	case 0xa5:
	case 0xac:
	case 0xad:
	case 0xab: /* bts, btr, btc */
	case 0xb3:
	case 0xbb:
	case 0xba:
	case 0x20: /* from control registers */
	case 0x21:
		return writes_rm(parts);
	case 0xb0: /* cmpxchg, xadd */
	case 0xb1:
	case 0xc0:
	case 0xc1:
		return writes_both(parts);
	case 0xc8 ... 0xcf: /* bswap */
		return writes((uint8_t)((parts->opcode & LOW) + (parts->rex & REX_B ? REGISTERS : 0)));
	case 0xa0: /* push and pop of segment registers */
	case 0xa8:
		return effect(STACK_MOVES, -WORD);
	case 0xa1:
	case 0xa9:
		return effect(STACK_MOVES, WORD);
	default:
		return effect(STACK_KEEPS, 0);
	}
}

/* The maps 0f 38 and 0f 3a have vector instructions, and general instructions in their last two rows:
 * crc32, movbe, bzhi, pext, andn. */
static struct stack_effect three_bytes(const struct parts *parts)
{
	enum { GENERAL = 0xf0, EXTRACT_FIRST = 0x14, EXTRACT_LAST = 0x17 };
	if (parts->map == 3 && parts->opcode >= EXTRACT_FIRST && parts->opcode <= EXTRACT_LAST)
		return writes_rm(parts);
	if (parts->opcode < GENERAL)
		return effect(STACK_KEEPS, 0);
	struct stack_effect to_reg = writes_both(parts), to_vvvv = writes(parts->is_vector ? parts->vvvv : UINT8_MAX);
	return to_vvvv.kind == STACK_KEEPS ? to_reg : to_vvvv;
}

/* Returns whether the instruction has operands of one byte. Without REX, numbers 4 and 5 are then ah and ch. */
static bool is_of_bytes(const struct parts *parts)
{
	static const uint8_t one[] = { 0x80, 0x86, 0x88, 0x8a, 0xc0, 0xc6, 0xd0, 0xd2, 0xf6, 0xfe };
	static const uint8_t two[] = { 0xb0, 0xc0 };
	enum { ARITHMETIC_END = 0x40, BYTE_CONSTANTS = 0xb0, SET = 0x90, HIGH_BITS = 0xf8, HIGH = 0xf0 };
	if (parts->map == 0)
		return (parts->opcode < ARITHMETIC_END && !(parts->opcode & 1)) ||
		       (parts->opcode & HIGH_BITS) == BYTE_CONSTANTS || memchr(one, parts->opcode, sizeof(one));
	return parts->map == 1 && ((parts->opcode & HIGH) == SET || memchr(two, parts->opcode, sizeof(two)));
}

struct stack_effect arch_stack_effect(const uint8_t *code, size_t size)
{
	const struct parts parts = parts_of(code, size);
	if (!parts.is_vector && parts.rex == 0 && is_of_bytes(&parts))
		return effect(STACK_KEEPS, 0);
	if (parts.map == 0)
		return one_byte(&parts);
	return parts.map == 1 ? two_bytes(&parts) : three_bytes(&parts);
}
