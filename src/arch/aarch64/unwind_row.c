/* Converts states of CFI into compact unwind rows. */
#include "arch/arch.h"

/* x19 to x29, sp (as the CFA), and x30, in which a function without calls keeps its return address: Procedure Call
 * Standard for the Arm 64-bit Architecture, 6.1.1. */
const uint64_t arch_callee_saved = UINT64_C(0xfff) << 19;

enum { WORD = 8, IN_REGISTERS = -1 };

static const struct unwind_row slow = { .kind = UNWIND_SLOW };

static bool is_kept(const struct cfi_rule *rule)
{
	return rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME;
}

/* Converts an offset in bytes to a row's field, in words. Returns false if it does not fit. */
static bool in_words(int64_t bytes, int64_t low, int64_t high, int64_t *words)
{
	*words = bytes / WORD;
	return bytes % WORD == 0 && *words >= low && *words <= high;
}

/* CFA = sp or x29 + 8 * cfa; x29 and x30 unchanged, or in a frame record at that base + 8 * fp. */
static struct unwind_row offset_row(const struct cfi_state *state)
{
	const struct cfi_rule *fp = &state->registers[ARCH_FP_REGISTER];
	const struct cfi_rule *lr = &state->registers[ARCH_LR_REGISTER];
	int64_t words, record = IN_REGISTERS;
	bool by_sp = state->cfa.size == ARCH_SP_REGISTER;
	if ((!by_sp && state->cfa.size != ARCH_FP_REGISTER) ||
	    !in_words(state->cfa.value, INT16_MIN, INT16_MAX, &words))
		return slow;
	bool is_record = fp->kind == CFI_OFFSET && lr->kind == CFI_OFFSET && lr->value == fp->value + WORD;
	if (is_record) {
		/* Both values count from the CFA. A sum that overflows does not fit either. */
		int64_t from_base;
		if (__builtin_add_overflow(state->cfa.value, fp->value, &from_base) ||
		    !in_words(from_base, 0, INT8_MAX, &record))
			return slow;
	} else if (!is_kept(fp) || !is_kept(lr)) {
		return slow;
	}
	return (struct unwind_row){
		.cfa = (int16_t)words,
		.kind = by_sp ? UNWIND_SP : UNWIND_FP,
		.fp = (int8_t)record,
	};
}

struct unwind_row arch_row(const struct cfi_row_input *input)
{
	const struct cfi_state *state = input->state;
	if (state->registers[input->return_register].kind == CFI_UNDEFINED)
		return (struct unwind_row){ .kind = UNWIND_END };
	/* The rules of the kernel's signal return describe a frame record that the kernel has stored beside the
	 * interrupted registers; all of these are in the ucontext. */
	if (input->is_signal)
		return (struct unwind_row){ .cfa = ARCH_SIGNAL_WORDS, .kind = UNWIND_SIGNAL };
	if (input->return_register != ARCH_LR_REGISTER || state->cfa.kind != CFI_REGISTER ||
	    state->registers[ARCH_SP_REGISTER].kind != CFI_UNSPECIFIED)
		return slow;
	return offset_row(state);
}

/* Compilers describe epilogues on this processor, so a row needs no information of the rows before it. */
void arch_follow_row(struct arch_function *function, struct unwind_row *row)
{
	(void)function;
	(void)row;
}

bool arch_next_switch(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row)
{
	(void)code, (void)size, (void)at, (void)end, (void)row;
	return false;
}

/* DW_CFA_AARCH64_negate_ra_state: the return address is signed from here on, or is not any longer. A signature is
 * removed in any case. */
bool arch_next_lisp_call(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row)
{
	(void)code;
	(void)size;
	(void)at;
	(void)end;
	(void)row;
	return false;
}

bool arch_cfi_operation(uint8_t operation)
{
	enum { NEGATE_RA_STATE = 0x2d };
	return operation == NEGATE_RA_STATE;
}
