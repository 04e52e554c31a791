/*
 * The state that call frame information describes for one pc: how to compute the CFA, and where the value of each
 * register of the caller is. The interpreter of CFI (unwind/) fills it in; a processor's folder converts it into a
 * compact row.
 */
#ifndef ARCH_CFI_STATE_H
#define ARCH_CFI_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/registers.h"

enum cfi_rule_kind {
	CFI_UNSPECIFIED = 0, /* no rule: unchanged if the ABI makes it callee-saved */
	CFI_UNDEFINED,       /* the caller's value is lost */
	CFI_SAME,            /* unchanged */
	CFI_OFFSET,          /* at CFA + value */
	CFI_VAL_OFFSET,      /* is CFA + value */
	CFI_REGISTER,        /* in register number `value` */
	CFI_EXPRESSION,      /* at the address that the expression computes */
	CFI_VAL_EXPRESSION,  /* is the result of the expression */
};

struct cfi_rule {
	int64_t value; /* for expressions: offset of their bytes in the section */
	uint32_t size; /* bytes of the expression */
	uint8_t kind;  /* enum cfi_rule_kind */
};

struct cfi_state {
	struct cfi_rule cfa; /* CFI_REGISTER: register `size` + value; CFI_VAL_EXPRESSION; else unknown */
	struct cfi_rule registers[ARCH_REGISTERS];
};

/* A state, and data of the entry that it comes from. */
struct cfi_row_input {
	const struct cfi_state *state;
	const uint8_t *section;  /* to which the values of expressions are offsets */
	uint8_t return_register; /* below ARCH_REGISTERS */
	bool is_signal;          /* a signal frame */
};

#endif
