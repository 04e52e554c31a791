/* Converts states of CFI into compact unwind rows. */
#include <string.h>

#include "arch/arch.h"
#include "base/cursor.h"

/* rbx, rbp, rsp (as the CFA), r12 to r15: System V ABI for x86-64, 3.2.1. */
const uint64_t arch_callee_saved = 1u << 3 | 1u << 6 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15;

enum { WORD = 8, UCONTEXT_RBP = 120, UCONTEXT_RSP = 160, UCONTEXT_RIP = 168 };

static const struct unwind_row slow = { .kind = UNWIND_SLOW };

/* Reads DW_OP_breg6 or DW_OP_breg7 with its offset. *cursor is then at the rest of the expression. */
static bool read_breg(struct cursor *cursor, unsigned number, int64_t *offset)
{
	enum { DW_OP_BREG0 = 0x70 };
	if (cursor_u8(cursor) != DW_OP_BREG0 + number)
		return false;
	*offset = cursor_sleb128(cursor);
	return !cursor->failed;
}

static bool is_done(const struct cursor *cursor)
{
	return !cursor->failed && cursor_left(cursor) == 0;
}

static struct cursor expression_of(const uint8_t *section, const struct cfi_rule *rule)
{
	return cursor_over(section + rule->value, rule->size);
}

/* Returns whether a register is saved at register `number` + *offset. */
static bool is_saved_at(const uint8_t *section, const struct cfi_rule *rule, unsigned number, int64_t *offset)
{
	if (rule->kind != CFI_EXPRESSION)
		return false;
	struct cursor cursor = expression_of(section, rule);
	return read_breg(&cursor, number, offset) && is_done(&cursor);
}

/* CFA = *(register `number` + *offset): breg, deref. */
static bool is_cfa_deref(const uint8_t *section, const struct cfi_rule *cfa, unsigned number, int64_t *offset)
{
	enum { DW_OP_DEREF = 0x06 };
	if (cfa->kind != CFI_VAL_EXPRESSION)
		return false;
	struct cursor cursor = expression_of(section, cfa);
	return read_breg(&cursor, number, offset) && cursor_u8(&cursor) == DW_OP_DEREF && is_done(&cursor);
}

/* Converts an offset in bytes into words, for a row. Returns false if it does not fit. */
static bool in_words(int64_t bytes, int64_t low, int64_t high, int64_t *words)
{
	*words = bytes / WORD;
	return bytes % WORD == 0 && *words >= low && *words <= high;
}

/*
 * glibc's __restore_rt describes the ucontext register by register. With u as the ucontext at rsp + 8 * cfa:
 *   CFA = *(u + 160), rip at u + 168, rbp at u + 120
 * (uc_mcontext.gregs begins at 40; REG_RBP, REG_RSP, REG_RIP are 10, 15, 16).
 */
static struct unwind_row signal_row(const uint8_t *section, const struct cfi_state *state)
{
	int64_t rsp;
	int64_t rip;
	int64_t rbp;
	int64_t words;
	uint8_t rsp_kind = state->registers[ARCH_SP_REGISTER].kind;
	if (!is_cfa_deref(section, &state->cfa, ARCH_SP_REGISTER, &rsp) ||
	    !is_saved_at(section, &state->registers[ARCH_PC_REGISTER], ARCH_SP_REGISTER, &rip) ||
	    !is_saved_at(section, &state->registers[ARCH_FP_REGISTER], ARCH_SP_REGISTER, &rbp))
		return slow;
	/* The interrupted rsp is the CFA, by a rule of its own or without a rule. */
	int64_t own = rsp;
	if (rsp_kind != CFI_UNSPECIFIED &&
	    !is_saved_at(section, &state->registers[ARCH_SP_REGISTER], ARCH_SP_REGISTER, &own))
		return slow;
	if (own != rsp || rip - rsp != UCONTEXT_RIP - UCONTEXT_RSP || rsp - rbp != UCONTEXT_RSP - UCONTEXT_RBP ||
	    !in_words(rsp - UCONTEXT_RSP, INT16_MIN, INT16_MAX, &words))
		return slow;
	return (struct unwind_row){ .cfa = (int16_t)words, .kind = UNWIND_SIGNAL };
}

/*
 * A PLT stub is `jmp *slot; push index; jmp PLT0`: the push, at offset N of the 16 bytes, moves the CFA for the rest
 * of the stub. The linkers write one expression for the whole section:
 *   breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus
 *   CFA = rsp + 8 + (((rip & 15) >= N) << 3)
 */
static struct unwind_row plt_row(const uint8_t *section, const struct cfi_state *state)
{
	enum { DW_OP_LIT0 = 0x30, STUB_BYTES = 16 };
	static const uint8_t masked_rip[] = { 0x80, 0x00, 0x3f, 0x1a };
	static const uint8_t compared[] = { 0x2a, 0x33, 0x24, 0x22 };
	int64_t offset;
	int64_t words;
	struct cursor cursor = expression_of(section, &state->cfa);
	if (!read_breg(&cursor, ARCH_SP_REGISTER, &offset))
		return slow;
	const uint8_t *middle = cursor_bytes(&cursor, sizeof(masked_rip));
	uint8_t bound = cursor_u8(&cursor);
	const uint8_t *last = cursor_bytes(&cursor, sizeof(compared));
	if (!last || !is_done(&cursor) || memcmp(middle, masked_rip, sizeof(masked_rip)) != 0 ||
	    memcmp(last, compared, sizeof(compared)) != 0 || bound < DW_OP_LIT0 || bound >= DW_OP_LIT0 + STUB_BYTES ||
	    !in_words(offset, INT16_MIN, INT16_MAX, &words))
		return slow;
	return (struct unwind_row){ .cfa = (int16_t)words, .kind = UNWIND_PLT, .fp = (int8_t)(bound - DW_OP_LIT0) };
}

/*
 * In functions that realign their stack, gcc keeps the address of the arguments in a slot below the new rbp:
 *   CFA = *(rbp + 8 * cfa), caller's rbp = *rbp
 */
static struct unwind_row realigned_row(const uint8_t *section, const struct cfi_state *state)
{
	int64_t offset;
	int64_t rbp;
	int64_t words;
	if (!is_cfa_deref(section, &state->cfa, ARCH_FP_REGISTER, &offset) ||
	    !is_saved_at(section, &state->registers[ARCH_FP_REGISTER], ARCH_FP_REGISTER, &rbp) || rbp != 0 ||
	    !in_words(offset, INT16_MIN, INT16_MAX, &words))
		return slow;
	return (struct unwind_row){ .cfa = (int16_t)words, .kind = UNWIND_FP_DEREF };
}

/* CFA = rsp or rbp + 8 * cfa; the caller's rbp is unchanged or at CFA + 8 * fp. */
static struct unwind_row offset_row(const struct cfi_state *state)
{
	const struct cfi_rule *rbp = &state->registers[ARCH_FP_REGISTER];
	int64_t words;
	int64_t fp = 0;
	bool by_rsp = state->cfa.size == ARCH_SP_REGISTER;
	if ((!by_rsp && state->cfa.size != ARCH_FP_REGISTER) ||
	    !in_words(state->cfa.value, INT16_MIN, INT16_MAX, &words))
		return slow;
	if (rbp->kind == CFI_OFFSET) {
		if (!in_words(rbp->value, INT8_MIN, INT8_MAX, &fp) || fp == 0)
			return slow;
	} else if (rbp->kind != CFI_UNSPECIFIED && rbp->kind != CFI_SAME) {
		return slow;
	}
	return (struct unwind_row){
		.cfa = (int16_t)words,
		.kind = by_rsp ? UNWIND_SP : UNWIND_FP,
		.fp = (int8_t)fp,
	};
}

struct unwind_row arch_row(const struct cfi_row_input *input)
{
	const struct cfi_state *state = input->state;
	const struct cfi_rule *rip = &state->registers[input->return_register];
	if (rip->kind == CFI_UNDEFINED)
		return (struct unwind_row){ .kind = UNWIND_END };
	if (input->return_register != ARCH_PC_REGISTER)
		return slow;
	if (input->is_signal)
		return signal_row(input->section, state);
	if (rip->kind != CFI_OFFSET || rip->value != -WORD ||
	    state->registers[ARCH_SP_REGISTER].kind != CFI_UNSPECIFIED)
		return slow;
	if (state->cfa.kind == CFI_REGISTER)
		return offset_row(state);
	if (state->cfa.kind != CFI_VAL_EXPRESSION)
		return slow;
	struct unwind_row row = realigned_row(input->section, state);
	uint8_t rbp_kind = state->registers[ARCH_FP_REGISTER].kind;
	if (row.kind == UNWIND_SLOW && (rbp_kind == CFI_UNSPECIFIED || rbp_kind == CFI_SAME))
		row = plt_row(input->section, state);
	return row;
}

/*
 * Compilers do not describe that an epilogue has popped rbp: by the rule it is still in its slot, although rbp
 * already has the caller's value. The slot is then below rsp, so a signal may overwrite it, and a copy of the stack
 * does not contain it.
 *
 *   push %rbp          CFA = rsp + 16, rbp at CFA - 16: at rsp
 *   ...
 *   pop %rbp           CFA = rsp + 8,  rbp at CFA - 16: at rsp - 8, popped
 *   ret
 *
 * A leaf function that saves rbp in the red zone also has its slot below rsp. There the slot was never above rsp,
 * and must be read.
 */
void arch_follow_row(struct arch_function *function, struct unwind_row *row)
{
	if (row->fp == 0 || (row->kind != UNWIND_SP && row->kind != UNWIND_FP))
		return;
	if (row->kind == UNWIND_FP || row->cfa + row->fp >= 0)
		function->fp = row->fp;
	else if (row->fp == function->fp)
		row->fp = 0;
}

/*
 * call_into_lisp_ and funcall_alien_callback (SBCL's src/runtime/x86-64-assem.S). They begin with
 * push %rbp; mov %rsp, %rbp, and Lisp restores that rbp:
 *
 * 	push %rbp
 * 	push %rbp
 * 	mov %rsp, %rbp        Lisp's first frame
 * 	...
 * 	call *-3(%rax)
 */
bool arch_next_lisp_call(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row)
{
	enum { BETWEEN_MAX = 48 };
	static const uint8_t frame[] = { 0x55, 0x55, 0x48, 0x89, 0xe5 }, call[] = { 0xff, 0x50, 0xfd };
	while (*at < size) {
		const uint8_t *begin = memmem(code + *at, size - *at, frame, sizeof(frame));
		if (!begin)
			return false;
		size_t after = (size_t)(begin - code) + sizeof(frame);
		size_t left = size - after < BETWEEN_MAX ? size - after : BETWEEN_MAX;
		const uint8_t *found = memmem(code + after, left, call, sizeof(call));
		*at = found ? (size_t)(found - code) : after;
		*end = *at + sizeof(call);
		*row = (struct unwind_row){ .cfa = 2, .kind = UNWIND_FP, .fp = -2 };
		if (found)
			return true;
	}
	return false;
}

bool arch_cfi_operation(uint8_t operation)
{
	(void)operation;
	return false;
}

uint64_t arch_code_address(uint64_t value)
{
	return value;
}
