/*
 * The effect of one instruction on the stack pointer and the frame pointer, from which rows are
 * computed for code without unwind information (unwind/parts.h).
 */
#ifndef ARCH_STACK_EFFECT_H
#define ARCH_STACK_EFFECT_H

#include <stddef.h>
#include <stdint.h>

enum stack_effect_kind {
	STACK_KEEPS,     /* it changes neither */
	STACK_MOVES,     /* sp += amount */
	STACK_PUSHES_FP, /* sp -= a word; fp is stored at sp */
	STACK_POPS_FP,   /* fp is loaded from sp; sp += a word */
	STACK_SETS_FP,   /* fp = sp + amount */
	STACK_SETS_SP,   /* sp = fp + amount */
	STACK_LEAVES,    /* sp = fp, and STACK_POPS_FP */
	STACK_STORES_FP, /* fp is stored at sp + amount */
	STACK_LOADS_FP,  /* fp is loaded from sp + amount */
	STACK_LOSES_SP,  /* sp = an unknown value */
	STACK_LOSES_FP,  /* fp = an unknown value */
};

struct stack_effect {
	uint8_t kind; /* enum stack_effect_kind */
	int32_t amount;
};

/* Returns the effect of an instruction of `size` bytes. An instruction that this processor's
 * part does not know loses the stack pointer. Optional: all do. */
struct stack_effect arch_stack_effect(const uint8_t *code, size_t size);

#endif
