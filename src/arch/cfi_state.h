/*
 * What call frame information says of one pc: how to compute the CFA, and where
 * each register of the caller is. The interpreter of CFI (unwind/) fills it in, a
 * processor's folder makes a compact row of it.
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
	CFI_EXPRESSION,      /* at the address that the expression gives */
	CFI_VAL_EXPRESSION,  /* is what the expression gives */
};

struct cfi_rule {
	int64_t value; /* of expressions: where their bytes begin in the section */
	uint32_t size; /* bytes of the expression */
	uint8_t kind;  /* enum cfi_rule_kind */
};

struct cfi_state {
	struct cfi_rule cfa; /* CFI_REGISTER: register `size` + value; CFI_VAL_EXPRESSION; else unknown */
	struct cfi_rule registers[ARCH_REGISTERS];
};

/* A state and what belongs to the entry that it is from. */
struct cfi_row_input {
	const struct cfi_state *state;
	const uint8_t *section;  /* bytes that the values of expressions count from */
	uint8_t return_register; /* below ARCH_REGISTERS */
	bool is_signal;          /* a signal frame */
};

#endif
