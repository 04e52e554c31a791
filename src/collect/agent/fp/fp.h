/*
 * Floating point exceptions: the interface between the files of fp/ and interpose/fenv.c.
 *
 * A processor has a vector unit, and may have an older legacy unit, each with control words of its own
 * (processor/agent/fp_words.h). A thread's words have two views:
 *
 *   shown    as the program set them
 *   hidden   (in the processor, while we count) changed so that counted exceptions trap:
 *            vector  the kinds that are counted are unmasked
 *            legacy  `inexact` is unmasked and pending ("armed"): every instruction of that
 *                    unit, except those that do not wait, traps before it runs. Unmasking the
 *                    counted kinds is no solution: an instruction that raises one would not store
 *                    its result, and would trap only at the next one, when its operands may be gone.
 *
 * Both traps lead to a step: the same instruction executes again, in the shown view, with no flag set and with the
 * trap flag set. The flags that are set afterwards are those that it has raised.
 *
 *             SIGFPE                       SIGTRAP
 *   hidden ----------> stepping (shown) ------------> hidden
 *             step                        finish_step
 *
 * A signal of the program may be delivered in a step. Its handler runs without the trap flag; when
 * the agent finds that, it suspends the step, and resumes it when the trap flag appears again: the
 * handler has returned. A handler that jumps out leaves a suspended step behind, which the next
 * steps replace.
 *
 * If the handler can execute the instruction itself (processor/agent/fp_execute.h), there is no second signal. A
 * second SIGFPE in a step is the program's own, of a kind that the program has unmasked.
 */
#ifndef COLLECT_AGENT_FP_FP_H
#define COLLECT_AGENT_FP_FP_H

#include "collect/agent/core/runtime.h"
#include "processor/agent/fp_words.h"

/* A step whose code a handler of the program has interrupted. */
struct fp_suspended {
	uint64_t pc;
	uint8_t vector_flags, legacy_flags;
	bool loads_flags, is_legacy, blocked_fpe, blocked_trap;
};
enum { FP_SUSPENDED_MAX = 4 };

struct fp_thread {
	bool on;               /* its words are hidden, except in handlers of the program */
	bool is_shown;         /* the program is in a call of <fenv.h>: fp_show_here */
	bool was_hidden;       /* ... and the words were hidden before it */
	bool vector_underflow; /* its flag was set when the words were hidden last */
	bool legacy_inexact;   /* the program's own value of the flag while the legacy unit is armed */
	uint8_t vector_unmasked, legacy_unmasked; /* kinds that the program has unmasked */

	/* A step. */
	bool is_stepping;
	bool loads_flags;     /* the instruction loads the legacy unit's flags and does not raise them */
	bool is_legacy;       /* an instruction of the legacy unit */
	uint8_t vector_flags; /* flags that were set before */
	uint8_t legacy_flags;
	bool blocked_fpe, blocked_trap;                  /* in the interrupted code */
	uint64_t pc;                                     /* of the instruction */
	struct fp_suspended suspended[FP_SUSPENDED_MAX]; /* the latest is the last one */
	uint32_t suspended_count;

	void *area; /* for fp_execute; NULL: none */

	/* fp/limit.c: kinds that are too frequent to trap each time, and whether the legacy unit's instructions are. On
	 * CLOCK_MONOTONIC. */
	uint8_t frequent;
	bool legacy_frequent;
	uint64_t due_ns[FP_KIND_COUNT], legacy_due_ns;
};

/* Number of calls of cpprof_start and cpprof_stop (fp/threads.c). */
extern uint32_t fp_turns;

/* --- views (fp.c) --- */

/* Return the kinds that we now unmask in the vector unit, and whether the legacy unit is armed. */
uint8_t fp_unmasked(const struct fp_thread *fp);
bool fp_is_armed(const struct fp_thread *fp);
/* Returns whether the words have our marks. If not, a handler or the program has set them. */
bool fp_are_hidden(const struct fp_thread *fp, const struct fp_words *words);
void fp_show(const struct fp_thread *fp, struct fp_words *words);
/* Changes the words to the hidden view, and saves what the program has in them. fp_show is the reverse. */
void fp_hide(struct fp_thread *fp, struct fp_words *words);

/* Keeps the present step, if there is one, for when the trap flag appears again. */
void fp_suspend(struct fp_thread *fp);

/* Show the present thread's words around a call that reads them. fp_show_here returns NULL if they are shown
 * already; calls do not nest. In a handler, or in code that has jumped out of one, the words were not hidden;
 * `sets_masks`: hide them afterwards all the same, because the call has set masks. */
struct fp_thread *fp_show_here(void);
void fp_hide_here(struct fp_thread *fp, bool sets_masks);

/* --- counting (fp.c): one event of each of these kinds, at `context` or here --- */
void fp_count(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context);
void fp_count_here(uint32_t kinds, uint64_t function);

/* --- the limit (fp/limit.c) --- */

/* Called after a step that raised these counted kinds. Returns the kinds among them that are counted. */
uint32_t fp_limit(struct runtime_thread *thread, uint32_t kinds);
/* Begins anew: all kinds are counted. */
void fp_limit_reset(struct fp_thread *fp);

#endif
