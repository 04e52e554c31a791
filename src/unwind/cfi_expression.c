#include <dwarf.h>

#include "unwind/cfi.h"

/*
 * The stack machine of DWARF expressions, without the operations that call frame information may not use: type,
 * object address, call and location operations (the standard's 6.4.2). Limits: a stack of 64 words, 1,000
 * operations.
 */
enum { STACK_WORDS = 64, MOST_OPERATIONS = 1000, DW_OP_BREG0 = DW_OP_breg0, DW_OP_BREG31 = DW_OP_breg31 };

struct expression {
	struct cursor cursor;
	const uint8_t *start;
	uint64_t bias;
	const struct unwind_source *source;
	struct cfi_frame *frame;
	enum cfi_status status;
	unsigned depth;
	uint64_t stack[STACK_WORDS];
};

static void fail(struct expression *expression, enum cfi_status status)
{
	if (expression->status == CFI_OK)
		expression->status = status;
}

static void push(struct expression *expression, uint64_t value)
{
	if (expression->depth == STACK_WORDS)
		fail(expression, CFI_BAD);
	else
		expression->stack[expression->depth++] = value;
}

static uint64_t pop(struct expression *expression)
{
	if (expression->depth == 0) {
		fail(expression, CFI_BAD);
		return 0;
	}
	return expression->stack[--expression->depth];
}

/* Returns the entry `index` below the top. */
static uint64_t peek(struct expression *expression, uint64_t index)
{
	if (index >= expression->depth) {
		fail(expression, CFI_BAD);
		return 0;
	}
	return expression->stack[expression->depth - 1 - index];
}

static void push_register(struct expression *expression, uint64_t number, int64_t offset)
{
	if (number >= ARCH_REGISTERS) {
		fail(expression, CFI_BAD);
	} else if (!(expression->frame->known >> number & 1)) {
		fail(expression, CFI_UNKNOWN);
	} else {
		push(expression, expression->frame->registers.value[number] + (uint64_t)offset);
	}
}

static void dereference(struct expression *expression, unsigned bytes)
{
	uint64_t address = pop(expression);
	uint64_t value;
	if (bytes == 0 || bytes > sizeof(value)) {
		fail(expression, CFI_BAD);
		return;
	}
	if (expression->status != CFI_OK)
		return;
	if (expression->source->read(expression->source->context, address, &value) != 0) {
		expression->frame->unreadable = address;
		fail(expression, CFI_UNREADABLE);
		return;
	}
	push(expression, bytes == sizeof(value) ? value : value & ((UINT64_C(1) << 8 * bytes) - 1));
}

static void jump(struct expression *expression, int16_t distance)
{
	const struct cursor *cursor = &expression->cursor;
	if (distance < expression->start - cursor->next || distance > cursor->end - cursor->next)
		fail(expression, CFI_BAD);
	else
		expression->cursor.next += distance;
}

static uint64_t shifted_right(uint64_t value, uint64_t count, bool is_signed)
{
	uint64_t fill = is_signed && (int64_t)value < 0 ? UINT64_MAX : 0;
	if (count >= 64)
		return fill;
	return count == 0 ? value : value >> count | fill << (64 - count);
}

/* Executes an operation on the two topmost words. Returns false if it is another one. */
static bool run_binary(struct expression *expression, uint8_t operation)
{
	if (operation != DW_OP_and && (operation < DW_OP_div || operation > DW_OP_xor) &&
	    (operation < DW_OP_eq || operation > DW_OP_ne))
		return false;
	if (operation == DW_OP_neg || operation == DW_OP_not || operation == DW_OP_plus_uconst)
		return false;
	uint64_t right = pop(expression);
	uint64_t left = pop(expression);
	bool zero_division = (operation == DW_OP_div || operation == DW_OP_mod) && right == 0;
	if (zero_division || expression->status != CFI_OK) {
		fail(expression, CFI_BAD);
		return true;
	}
	switch (operation) {
	case DW_OP_and:
		push(expression, left & right);
		break;
	/* -1: INT64_MIN / -1 overflows in C. */
	case DW_OP_div:
		push(expression, right == UINT64_MAX ? -left : (uint64_t)((int64_t)left / (int64_t)right));
		break;
	case DW_OP_minus:
		push(expression, left - right);
		break;
	case DW_OP_mod:
		push(expression, left % right);
		break;
	case DW_OP_mul:
		push(expression, left * right);
		break;
	case DW_OP_or:
		push(expression, left | right);
		break;
	case DW_OP_plus:
		push(expression, left + right);
		break;
	case DW_OP_shl:
		push(expression, right < 64 ? left << right : 0);
		break;
	case DW_OP_shr:
		push(expression, shifted_right(left, right, false));
		break;
	case DW_OP_shra:
		push(expression, shifted_right(left, right, true));
		break;
	case DW_OP_xor:
		push(expression, left ^ right);
		break;
	case DW_OP_eq:
		push(expression, left == right);
		break;
	case DW_OP_ge:
		push(expression, (int64_t)left >= (int64_t)right);
		break;
	case DW_OP_gt:
		push(expression, (int64_t)left > (int64_t)right);
		break;
	case DW_OP_le:
		push(expression, (int64_t)left <= (int64_t)right);
		break;
	case DW_OP_lt:
		push(expression, (int64_t)left < (int64_t)right);
		break;
	default:
		push(expression, left != right);
		break;
	}
	return true;
}

/* Executes an operation that pushes a constant or a register. Returns false if it is another one. */
static bool run_push(struct expression *expression, uint8_t operation)
{
	struct cursor *cursor = &expression->cursor;
	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31) {
		push(expression, operation - DW_OP_lit0);
		return true;
	}
	if (operation >= DW_OP_BREG0 && operation <= DW_OP_BREG31) {
		push_register(expression, operation - DW_OP_BREG0, cursor_sleb128(cursor));
		return true;
	}
	switch (operation) {
	case DW_OP_addr:
		push(expression, cursor_u64(cursor) + expression->bias);
		return true;
	case DW_OP_const1u:
		push(expression, cursor_u8(cursor));
		return true;
	case DW_OP_const1s:
		push(expression, (uint64_t)(int64_t)(int8_t)cursor_u8(cursor));
		return true;
	case DW_OP_const2u:
		push(expression, cursor_u16(cursor));
		return true;
	case DW_OP_const2s:
		push(expression, (uint64_t)(int64_t)(int16_t)cursor_u16(cursor));
		return true;
	case DW_OP_const4u:
		push(expression, cursor_u32(cursor));
		return true;
	case DW_OP_const4s:
		push(expression, (uint64_t)(int64_t)(int32_t)cursor_u32(cursor));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(expression, cursor_u64(cursor));
		return true;
	case DW_OP_constu:
		push(expression, cursor_varint(cursor));
		return true;
	case DW_OP_consts:
		push(expression, (uint64_t)cursor_sleb128(cursor));
		return true;
	case DW_OP_bregx: {
		uint64_t number = cursor_varint(cursor);
		push_register(expression, number, cursor_sleb128(cursor));
		return true;
	}
	default:
		return false;
	}
}

static void swap_top(struct expression *expression)
{
	uint64_t top = pop(expression);
	uint64_t second = pop(expression);
	push(expression, top);
	push(expression, second);
}

/* The top becomes the third, the second becomes the top. */
static void rotate_top(struct expression *expression)
{
	uint64_t top = pop(expression);
	uint64_t second = pop(expression);
	uint64_t third = pop(expression);
	push(expression, top);
	push(expression, third);
	push(expression, second);
}

/* Executes all other operations: stack, memory, unary and control operations. */
static void run_other(struct expression *expression, uint8_t operation)
{
	struct cursor *cursor = &expression->cursor;
	uint64_t value;
	int16_t distance;
	switch (operation) {
	case DW_OP_nop:
		break;
	case DW_OP_dup:
		push(expression, peek(expression, 0));
		break;
	case DW_OP_drop:
		pop(expression);
		break;
	case DW_OP_over:
		push(expression, peek(expression, 1));
		break;
	case DW_OP_pick:
		push(expression, peek(expression, cursor_u8(cursor)));
		break;
	case DW_OP_swap:
		swap_top(expression);
		break;
	case DW_OP_rot:
		rotate_top(expression);
		break;
	case DW_OP_deref:
		dereference(expression, sizeof(uint64_t));
		break;
	case DW_OP_deref_size:
		dereference(expression, cursor_u8(cursor));
		break;
	case DW_OP_abs:
		value = pop(expression);
		push(expression, (int64_t)value < 0 ? -value : value);
		break;
	case DW_OP_neg:
		push(expression, -pop(expression));
		break;
	case DW_OP_not:
		push(expression, ~pop(expression));
		break;
	case DW_OP_plus_uconst:
		value = pop(expression);
		push(expression, value + cursor_varint(cursor));
		break;
	case DW_OP_skip:
		distance = (int16_t)cursor_u16(cursor);
		jump(expression, distance);
		break;
	case DW_OP_bra:
		distance = (int16_t)cursor_u16(cursor);
		if (pop(expression) != 0)
			jump(expression, distance);
		break;
	default:
		fail(expression, CFI_BAD);
		break;
	}
}

enum cfi_status cfi_expression(const uint8_t *bytes, size_t size, uint64_t bias, const struct unwind_source *source,
			       struct cfi_frame *frame, const uint64_t *initial, uint64_t *result)
{
	struct expression expression;
	expression.cursor = cursor_over(bytes, size);
	expression.start = bytes;
	expression.bias = bias;
	expression.source = source;
	expression.frame = frame;
	expression.status = CFI_OK;
	expression.depth = 0;
	if (initial)
		push(&expression, *initial);
	unsigned operations = 0;
	while (cursor_left(&expression.cursor) > 0 && expression.status == CFI_OK && !expression.cursor.failed) {
		uint8_t operation = cursor_u8(&expression.cursor);
		if (operations++ == MOST_OPERATIONS)
			fail(&expression, CFI_BAD);
		else if (!run_push(&expression, operation) && !run_binary(&expression, operation))
			run_other(&expression, operation);
	}
	if (expression.cursor.failed)
		fail(&expression, CFI_BAD);
	*result = pop(&expression);
	return expression.status;
}
