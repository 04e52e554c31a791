/* The processor's words for floating point exceptions, here and in code that a signal has interrupted: MXCSR of the
 * vector unit (SSE and AVX), control and status of the legacy unit (x87). In all three words the kinds are the bits
 * of enum fp_kind. */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_FP_WORDS_H
#define ARCH_X86_64_PROCESSOR_AGENT_FP_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
	FP_KINDS = 0x3f,
	FP_INEXACT = 0x20,
	FP_VECTOR_MASKS = 7,    /* shift of the masks in the vector word */
	FP_STACK_FAULT = 0x40,  /* this and the next two in the x87's status */
	FP_LEGACY_FLAGS = 0x7f, /* the kinds and the stack fault */
	FP_SUMMARY = 0x8080,    /* an unmasked flag is set: the next x87 instruction traps */
	FP_TRAP_LEGACY = 16,    /* numbers of processor exceptions */
	FP_TRAP_VECTOR = 19
};

struct fp_words {
	uint32_t vector; /* MXCSR */
	uint16_t control, status;
};

/* --- a context --- */

enum { FP_GENERAL_REGISTERS = 15 }; /* number of fp_general_registers; the stack pointer follows them */

static inline const greg_t *fp_general_registers(const ucontext_t *context)
{
	return context->uc_mcontext.gregs;
}

/* Returns FP_TRAP_LEGACY, FP_TRAP_VECTOR or another trap's number. */
static inline int fp_trap_number(const ucontext_t *context)
{
	return (int)context->uc_mcontext.gregs[REG_TRAPNO];
}

enum { FP_TRAP_FLAG = 0x100 }; /* in EFLAGS: trap after one instruction */

static inline bool fp_trap_flag_is_set(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_EFL] & FP_TRAP_FLAG;
}

static inline void fp_trap_flag_set(ucontext_t *context, bool is_set)
{
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)FP_TRAP_FLAG;
	context->uc_mcontext.gregs[REG_EFL] |= is_set ? FP_TRAP_FLAG : 0;
}

/* --- words --- */

/* Returns the x87's flags that are set and not masked. */
static inline uint32_t fp_legacy_pending(const struct fp_words *words)
{
	return words->status & ~(uint32_t)words->control & FP_KINDS;
}

static inline void fp_renew_summary(struct fp_words *words)
{
	words->status &= (uint16_t)~FP_SUMMARY;
	if (fp_legacy_pending(words))
		words->status |= FP_SUMMARY;
}

/* --- of interrupted code: the kernel always writes these two parts of the frame --- */

static inline struct fp_words fp_words_of(const ucontext_t *context)
{
	const struct _libc_fpstate *state = context->uc_mcontext.fpregs;
	return (struct fp_words){ .vector = state->mxcsr, .control = state->cwd, .status = state->swd };
}

static inline void fp_words_set(ucontext_t *context, const struct fp_words *words)
{
	struct _libc_fpstate *state = context->uc_mcontext.fpregs;
	state->mxcsr = words->vector;
	state->cwd = words->control;
	state->swd = words->status;
}

/* --- of this thread, by instructions that do not wait for pending exceptions, so that they do not trap --- */

static inline struct fp_words fp_words_here(void)
{
	struct fp_words words;
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2"
			 : "=m"(words.vector), "=m"(words.control), "=m"(words.status));
	return words;
}

static inline void fp_words_set_here(const struct fp_words *words)
{
	struct {
		uint16_t control, spare, status, spares[11];
	} environment;
	_Static_assert(sizeof(environment) == 28, "as fnstenv writes it");
	__asm__ volatile("fnstenv %0"
			 : "=m"(environment)); /* it also masks all exceptions: fldenv would wait otherwise */
	environment.control = words->control;
	environment.status = words->status;
	__asm__ volatile("fldenv %0\n\tldmxcsr %1" : : "m"(environment), "m"(words->vector));
}

#endif
