/*
 * Counts floating point exceptions of the vector unit and the legacy unit: one event for each kind that an
 * instruction raises. fp.h describes the method.
 *
 * Guarantees:
 *   - Results, flags, masks and signals are as in a run without the agent: the processor executes each instruction
 *     once, with the program's own masks.
 *   - Counts are exact. A kind that is frequent in a thread is counted up to a limit (fp/limit.c), and is reported.
 * Limits:
 *   - Instructions in the program's own code that store the words find our changes in them, and so do handlers that
 *     inspect the code that they interrupted.
 *   - Linux starts a handler with all kinds masked, and code that loads or clears the words itself also masks them:
 *     exceptions are missed from there to the next tick or the handler's end.
 */
#include "collect/agent/fp/fp.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/agent/signals/signals.h"
#include "processor/agent/fp_code.h"
#include "processor/agent/fp_execute.h"
#include "processor/agent/machine.h"

/* --- views --- */

uint8_t fp_unmasked(const struct fp_thread *fp)
{
	return runtime.fp_kinds & (uint8_t)~fp->frequent;
}

bool fp_is_armed(const struct fp_thread *fp)
{
	return !fp->legacy_frequent;
}

bool fp_are_hidden(const struct fp_thread *fp, const struct fp_words *words)
{
	return !(words->vector >> FP_VECTOR_MASKS & (fp_unmasked(fp) | fp->vector_unmasked));
}

static bool looks_armed(const struct fp_words *words)
{
	return !(words->control & FP_INEXACT) && words->status & FP_INEXACT;
}

void fp_show(const struct fp_thread *fp, struct fp_words *words)
{
	words->vector |= (uint32_t)(runtime.fp_kinds & ~fp->vector_unmasked) << FP_VECTOR_MASKS;
	if (!looks_armed(words))
		return;
	if (!(fp->legacy_unmasked & FP_INEXACT))
		words->control |= FP_INEXACT;
	if (!fp->legacy_inexact)
		words->status &= (uint16_t)~FP_INEXACT;
	fp_renew_summary(words);
}

void fp_hide(struct fp_thread *fp, struct fp_words *words)
{
	fp->vector_unmasked = ~(words->vector >> FP_VECTOR_MASKS) & FP_KINDS;
	fp->vector_underflow = words->vector & FP_KIND_UNDERFLOW;
	words->vector &= ~((uint32_t)fp_unmasked(fp) << FP_VECTOR_MASKS);
	fp->legacy_unmasked = ~words->control & FP_KINDS;
	fp->legacy_inexact = words->status & FP_INEXACT;
	if (!fp_is_armed(fp) || fp_legacy_pending(words)) /* the program's own pending exception traps anyway */
		return;
	words->control &= (uint16_t)~FP_INEXACT;
	words->status |= FP_INEXACT;
	fp_renew_summary(words);
}

/* Returns whether a trap would end the process. A handler may block these signals. */
static bool blocks_traps(void)
{
	sigset_t set;
	real_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGFPE) == 1 || sigismember(&set, SIGTRAP) == 1;
}

struct fp_thread *fp_show_here(void)
{
	struct runtime_thread *thread = runtime_thread;
	struct fp_thread *fp = thread ? thread->fp : NULL;
	if (!fp || !fp->on || fp->is_shown)
		return NULL;
	fp->is_shown = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	struct fp_words words = fp_words_here();
	fp->was_hidden = fp_are_hidden(fp, &words);
	fp_show(fp, &words);
	fp_words_set_here(&words);
	return fp;
}

void fp_hide_here(struct fp_thread *fp, bool sets_masks)
{
	if (!fp)
		return;
	struct fp_words words = fp_words_here();
	bool hides =
		fp->was_hidden || ((sets_masks || !(fp->vector_unmasked | fp->legacy_unmasked)) && !blocks_traps());
	if (runtime.on && hides) {
		fp_hide(fp, &words);
		fp_words_set_here(&words);
	} else if (!runtime.on) {
		fp->on = false;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	fp->is_shown = false;
}

/* --- counting --- */

void fp_count(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context)
{
	bool is_sampled = false;
	for (uint32_t left = runtime.requests_of[COUNTER_FP]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t amount = (uint64_t)__builtin_popcount(kinds & runtime.channel->requests[request].fp_kinds);
		uint64_t hits = amount ? runtime_advance(thread, request, amount) : 0;
		if (hits == 0)
			continue;
		if (is_sampled && runtime_can_repeat(thread))
			runtime_sample_again(thread, request, hits, amount);
		else
			runtime_sample_interrupted(thread, request, hits, amount, context);
		is_sampled = true;
	}
}

void fp_count_here(uint32_t kinds, uint64_t function)
{
	struct runtime_thread *thread = runtime_enter();
	if (!thread)
		return;
	kinds &= ~(uint32_t)(thread->fp ? thread->fp->frequent : 0);
	for (uint32_t left = runtime.requests_of[COUNTER_FP]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t amount = (uint64_t)__builtin_popcount(kinds & runtime.channel->requests[request].fp_kinds);
		uint64_t hits = amount ? runtime_advance(thread, request, amount) : 0;
		if (hits)
			runtime_sample_here(thread, request, hits, amount, function);
	}
	runtime_leave(thread);
}

/* --- steps --- */

/* Unblocks the two signals of a step, which the program may have blocked. */
static void open_signals(struct fp_thread *fp, ucontext_t *context)
{
	fp->blocked_fpe = sigismember(&context->uc_sigmask, SIGFPE) == 1;
	fp->blocked_trap = sigismember(&context->uc_sigmask, SIGTRAP) == 1;
	sigdelset(&context->uc_sigmask, SIGFPE);
	sigdelset(&context->uc_sigmask, SIGTRAP);
}

static void close_signals(const struct fp_thread *fp, ucontext_t *context)
{
	if (fp->blocked_fpe)
		sigaddset(&context->uc_sigmask, SIGFPE);
	if (fp->blocked_trap)
		sigaddset(&context->uc_sigmask, SIGTRAP);
}

/* Sets the trap flag. The words are shown and without flags. */
static void set_trap(struct fp_thread *fp, ucontext_t *context)
{
	fp->is_stepping = true;
	open_signals(fp, context);
	fp_trap_flag_set(context, true);
}

/* Puts the words into the shown view, and moves the flags from the words to `fp`. */
static void take_words(struct fp_thread *fp, ucontext_t *context)
{
	struct fp_words words = fp_words_of(context);
	fp_show(fp, &words);
	fp->vector_flags = words.vector & FP_KINDS;
	fp->legacy_flags = words.status & FP_LEGACY_FLAGS;
	words.vector &= ~(uint32_t)FP_KINDS;
	words.status &= (uint16_t) ~(FP_LEGACY_FLAGS | FP_SUMMARY);
	fp_words_set(context, &words);
	fp->pc = machine_program_counter_of(context);
}

/* Returns the flags that one instruction of a step has raised. Clears them in the words, and adds them to the saved
 * flags. */
static uint32_t take_flags(struct fp_thread *fp, struct fp_words *words)
{
	uint32_t raised = (words->vector | (fp->loads_flags ? 0 : words->status)) & FP_KINDS;
	fp->vector_flags |= words->vector & FP_KINDS;
	fp->legacy_flags = (uint8_t)((fp->loads_flags ? 0 : fp->legacy_flags) | (words->status & FP_LEGACY_FLAGS));
	if (fp->is_legacy && !fp->loads_flags && !(fp->legacy_unmasked & FP_INEXACT))
		words->control |=
			FP_INEXACT; /* the instruction loaded a control word that it had stored in the hidden view */
	words->vector &= ~(uint32_t)FP_KINDS;
	words->status &= (uint16_t) ~(FP_LEGACY_FLAGS | FP_SUMMARY);
	return raised;
}

/* Ends a step after take_flags: restores the words and signals as if there had been no step. */
static void leave_step(struct fp_thread *fp, struct fp_words *words, ucontext_t *context)
{
	words->vector |= fp->vector_flags;
	words->status |= fp->legacy_flags;
	fp_renew_summary(words);
	if (fp->loads_flags)
		fp_show(fp, words); /* it may have loaded flags that were stored in the hidden view */
	if (fp->is_stepping) {
		close_signals(fp, context);
		fp_trap_flag_set(context, false);
	}
	fp->is_stepping = fp->loads_flags = fp->is_legacy = false;
}

/* --- steps below handlers --- */

void fp_suspend(struct fp_thread *fp)
{
	if (!fp->is_stepping)
		return;
	if (fp->suspended_count == FP_SUSPENDED_MAX) /* a handler has jumped out of the oldest one */
		memmove(fp->suspended, fp->suspended + 1, --fp->suspended_count * sizeof(fp->suspended[0]));
	fp->suspended[fp->suspended_count++] = (struct fp_suspended){
		.pc = fp->pc,
		.vector_flags = fp->vector_flags,
		.legacy_flags = fp->legacy_flags,
		.loads_flags = fp->loads_flags,
		.is_legacy = fp->is_legacy,
		.blocked_fpe = fp->blocked_fpe,
		.blocked_trap = fp->blocked_trap,
	};
	fp->is_stepping = fp->loads_flags = fp->is_legacy = false;
}

static void resume(struct fp_thread *fp)
{
	const struct fp_suspended *step = &fp->suspended[--fp->suspended_count];
	fp->pc = step->pc;
	fp->vector_flags = step->vector_flags;
	fp->legacy_flags = step->legacy_flags;
	fp->loads_flags = step->loads_flags;
	fp->is_legacy = step->is_legacy;
	fp->blocked_fpe = step->blocked_fpe;
	fp->blocked_trap = step->blocked_trap;
	fp->is_stepping = true;
}

/* Makes is_stepping true for the interrupted code: only the code of a step has the trap flag set. */
static void match_step(struct fp_thread *fp, const ucontext_t *context)
{
	if (!fp_trap_flag_is_set(context))
		fp_suspend(fp);
	else if (!fp->is_stepping && fp->suspended_count)
		resume(fp);
}

/* --- signals --- */

/* Returns the si_code that the kernel sets for these unmasked flags. */
static int code_of(uint32_t kinds)
{
	return kinds & FP_KIND_INVALID                          ? FPE_FLTINV
	       : kinds & FP_KIND_DIVZERO                        ? FPE_FLTDIV
	       : kinds & FP_KIND_OVERFLOW                       ? FPE_FLTOVF
	       : kinds & (FP_KIND_UNDERFLOW | FP_KIND_DENORMAL) ? FPE_FLTUND
								: FPE_FLTRES;
}

/* Returns the number of the floating point trap, or 0 if it is another trap. */
static int trap_of(const siginfo_t *info, const ucontext_t *context)
{
	int trap = fp_trap_number(context);
	return info->si_code > 0 && info->si_code != FPE_INTDIV && (trap == FP_TRAP_LEGACY || trap == FP_TRAP_VECTOR)
		       ? trap
		       : 0;
}

/* Calls the program's handler in the shown view. The handler may not return. */
static void pass_on(int number, siginfo_t *info, ucontext_t *context)
{
	struct fp_thread *fp = runtime_thread ? runtime_thread->fp : NULL;
	if (!fp || !fp->on || fp->is_shown) {
		signals_chain(number, info, context);
		return;
	}
	struct fp_words words = fp_words_of(context);
	bool was_hidden = fp_are_hidden(fp, &words) || fp->is_stepping;
	if (fp->is_stepping) {
		take_flags(fp, &words);
		leave_step(fp, &words, context);
	}
	fp_show(fp, &words);
	fp_words_set(context, &words);
	siginfo_t shown = *info;
	int trap = number == SIGFPE ? trap_of(info, context) : 0;
	if (trap)
		shown.si_code = code_of(trap == FP_TRAP_LEGACY ? fp_legacy_pending(&words)
							       : words.vector & ~(words.vector >> FP_VECTOR_MASKS));
	signals_chain(number, &shown, context);
	if (was_hidden && runtime_thread && runtime_thread->fp) {
		words = fp_words_of(context);
		fp_hide(runtime_thread->fp, &words);
		fp_words_set(context, &words);
	}
}

/* Shows the words and leaves them so, because nothing is counted (any more). A thread without `fp` may have
 * inherited hidden words from its creator. Returns false if the words were not hidden. */
static bool unhide(struct runtime_thread *thread, ucontext_t *context)
{
	static const struct fp_thread none;
	struct fp_thread *fp = thread ? thread->fp : NULL;
	struct fp_words words = fp_words_of(context);
	const struct fp_words old = words;
	fp_show(fp ? fp : &none, &words);
	fp_words_set(context, &words);
	if (fp)
		fp->on = false;
	return old.vector != words.vector || old.control != words.control || old.status != words.status;
}

/* Returns whether this kind trapped only because we unmasked it. */
static bool is_ours(const struct fp_thread *fp, int trap, const struct fp_words *words)
{
	if (fp->is_stepping || fp->is_shown)
		return false;
	if (trap == FP_TRAP_VECTOR)
		return ~(words->vector >> FP_VECTOR_MASKS) & runtime.fp_kinds & ~(uint32_t)fp->vector_unmasked;
	struct fp_words shown = *words;
	fp_show(fp, &shown);
	return looks_armed(words) && !fp_legacy_pending(&shown);
}

/* Counts at the address of the instruction, not of the next one. */
static void count_step(struct runtime_thread *thread, uint32_t raised, ucontext_t *context)
{
	uint64_t next = machine_program_counter_of(context);
	uint64_t was_busy = thread->busy;
	uint32_t kinds = fp_limit(thread, raised & runtime.fp_kinds);
	if (was_busy)
		return;
	thread->busy = RUNTIME_HELD;
	machine_program_counter_set(context, thread->fp->pc);
	fp_count(thread, kinds, context);
	machine_program_counter_set(context, next);
	thread->busy = 0;
}

/* Runs after the instruction of a step. */
static void finish_step(struct runtime_thread *thread, ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	struct fp_words words = fp_words_of(context);
	uint32_t raised = take_flags(fp, &words);
	/* If underflow is unmasked, an exact tiny result also raises the flag. */
	if (!fp->is_legacy && !(raised & fp_unmasked(fp)) && !fp->vector_underflow)
		fp->vector_flags &= (uint8_t)~FP_KIND_UNDERFLOW;
	count_step(thread, raised, context);
	leave_step(fp, &words, context);
	fp_hide(fp, &words);
	fp_words_set(context, &words);
}

static void step(struct runtime_thread *thread, int trap, ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	fp->is_legacy = trap == FP_TRAP_LEGACY;
	take_words(fp, context);
	fp->loads_flags = fp->is_legacy && fp_loads_legacy_flags((const uint8_t *)(uintptr_t)fp->pc);
	bool must_step = fp->loads_flags || fp->vector_unmasked || fp->legacy_unmasked;
	if (!must_step && fp_execute(fp->area, context))
		finish_step(thread, context);
	else
		set_trap(fp, context);
}

static void on_fpe(int number, siginfo_t *info, void *interrupted)
{
	int error = errno;
	ucontext_t *context = interrupted;
	struct fp_thread *fp = runtime_thread ? runtime_thread->fp : NULL;
	int trap = trap_of(info, context);
	struct fp_words words = fp_words_of(context);
	bool passes = false;
	if (fp)
		match_step(fp, context);
	if (trap && (!fp || (!runtime.on && !fp->is_stepping))) {
		passes = !unhide(runtime_thread, context);
	} else if (trap && is_ours(fp, trap, &words)) {
		if (trap == FP_TRAP_LEGACY && !fp_is_armed(fp))
			fp->legacy_inexact = true; /* not our mark: the program stored our mask and loaded it again */
		step(runtime_thread, trap, context);
	} else {
		passes = true;
	}
	if (passes)
		pass_on(number, info, context);
	errno = error;
}

static void on_trap(int number, siginfo_t *info, void *interrupted)
{
	int error = errno;
	ucontext_t *context = interrupted;
	struct runtime_thread *thread = runtime_thread;
	struct fp_thread *fp = thread ? thread->fp : NULL;
	if (fp)
		match_step(fp, context);
	if (!fp || !fp->is_stepping || info->si_code != TRAP_TRACE) {
		pass_on(number, info, context);
	} else {
		finish_step(thread, context);
	}
	errno = error;
}

int fp_install(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	sigfillset(&action.sa_mask);
	action.sa_sigaction = on_fpe;
	int error = signals_own(SIGFPE, &action);
	action.sa_sigaction = on_trap;
	return error < 0 ? error : signals_own(SIGTRAP, &action);
}

/* --- ticks --- */

/* Hides the words again after instructions of the program have masked the kinds, unless the kinds that the program
 * has unmasked could be confused with ours. */
static void restore(struct fp_thread *fp, ucontext_t *context)
{
	struct fp_words words = fp_words_of(context);
	bool is_marked =
		fp_are_hidden(fp, &words) && (!fp_is_armed(fp) || looks_armed(&words) || fp_legacy_pending(&words));
	if (fp->on && (is_marked || fp->vector_unmasked | fp->legacy_unmasked))
		return;
	bool legacy_inexact = fp->legacy_inexact && !looks_armed(&words);
	fp_show(fp, &words);
	fp_hide(fp, &words);
	fp->legacy_inexact |= legacy_inexact;
	fp_words_set(context, &words);
	fp->on = true;
}

void fp_tick(struct runtime_thread *thread, void *interrupted)
{
	struct fp_thread *fp = thread->fp;
	ucontext_t *context = interrupted;
	if (!fp || fp->is_shown)
		return;
	match_step(fp, context);
	if (fp_trap_flag_is_set(context)) /* a step, or the program has set it */
		return;
	if (sigismember(&context->uc_sigmask, SIGFPE) == 1 || sigismember(&context->uc_sigmask, SIGTRAP) == 1)
		return;
	__atomic_store_n(&thread->fp_turn, fp_turns, __ATOMIC_RELEASE);
	if (!runtime.on) {
		if (fp->on)
			unhide(thread, context);
		return;
	}
	if (!fp->on)
		fp_limit_reset(fp);
	restore(fp, context);
}
