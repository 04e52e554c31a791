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
 * If the handler can execute the instruction itself (processor/agent/fp_execute.h), there is no second signal. A
 * second SIGFPE in a step is the program's own, of a kind that the program has unmasked.
 */
#ifndef COLLECT_AGENT_FP_FP_H
#define COLLECT_AGENT_FP_FP_H

#include "collect/agent/core/runtime.h"
#include "processor/agent/fp_words.h"

/* The time from an instruction to the next one that traps. */
struct fp_gap {
	uint64_t pc;
	uint32_t ps;
	uint16_t samples; /* number of measurements; 0: unknown */
	bool is_far;      /* too far for stepping: the clock measures it */
};

enum { FP_GAPS = 64 };

/* An instruction by which fp/loops.c counts the turns of a loop. Each burst searches for it. */
struct fp_anchor {
	uint64_t pc;
	uint32_t seen;                         /* number of times in this burst */
	uint32_t steady;                       /* bit n: values[n] changes by the same amount in each turn */
	greg_t values[FP_GENERAL_REGISTERS];   /* registers when it was seen last */
	int64_t changes[FP_GENERAL_REGISTERS]; /* change in one turn */
	uint64_t turns;                        /* turns in the masked time before this burst; 0: unknown */
	double per_ns;                         /* turns, a recent maximum */
	uint32_t raised_first[FP_KIND_COUNT];  /* events of the burst when it was seen first and last */
	uint32_t raised_last[FP_KIND_COUNT];
	double per_turn[FP_KIND_COUNT];       /* events per turn in the last burst that saw it */
	double known_per_turn[FP_KIND_COUNT]; /* ... before this burst */
};

struct fp_thread {
	bool on;               /* its words are hidden, except in handlers of the program */
	bool is_shown;         /* the program is in a call of <fenv.h>: fp_show_here */
	bool was_hidden;       /* ... and the words were hidden before it */
	bool vector_underflow; /* its flag was set when the words were hidden last */
	bool legacy_inexact;   /* the program's own value of the flag while the legacy unit is armed */
	uint8_t vector_unmasked, legacy_unmasked; /* kinds that the program has unmasked */

	/* A step. */
	bool is_stepping;
	bool is_window;       /* several instructions: fp/frequent.c */
	bool loads_flags;     /* the instruction loads the legacy unit's flags and does not raise them */
	bool is_legacy;       /* an instruction of the legacy unit */
	uint8_t vector_flags; /* flags that were set before */
	uint8_t legacy_flags;
	bool blocked_fpe, blocked_trap; /* in the interrupted code */
	uint64_t pc;                    /* of the instruction */
	uint64_t entered_ns;            /* CLOCK_MONOTONIC: at the start of the step */

	void *area; /* for fp_execute; NULL: none */

	/* fp/frequent.c: kinds that are too frequent to trap each time, and whether the legacy unit's instructions
	 * are. */
	uint8_t frequent;
	bool legacy_frequent;
	bool is_burst;     /* all of them trap for a moment */
	uint64_t level_ns; /* time in traps, less the time allowed for them since */
	uint64_t level_at_ns;
	uint64_t signal_ns;           /* duration of a signal's delivery and return */
	uint32_t steps, legacy_steps; /* since the level was 0 */
	uint32_t exact_steps;         /* of the thread, up to EXACT_STEPS */
	uint32_t raised[FP_KIND_COUNT];

	uint64_t masked_at_ns; /* CPU time at the end of the last burst */
	uint64_t masked_ns;    /* masked time before the burst, which the burst represents */
	uint32_t burst_stops, burst_target;
	uint32_t burst_raised[FP_KIND_COUNT];
	uint64_t burst_ps;            /* the program's own time between stops */
	uint32_t rare_bursts;         /* in a row */
	uint64_t owed[FP_KIND_COUNT]; /* estimated events that the next event of the kind is credited with */
	double per_ns[FP_KIND_COUNT]; /* rate in the last bursts; 0: none yet */
	bool has_path;                /* the walk directly behind this struct has the last burst's path */

	/* From one stop to the next. */
	struct fp_gap gaps[FP_GAPS];
	struct fp_gap *gap;             /* of the last stop, for use or measurement; NULL: none */
	uint64_t run_at_ns, run_cpu_ns; /* two clocks when the program continued without stepping; 0: it is stepped */
	uint64_t turn_ns;      /* CPU time from one handler to the next with no instruction in between; 0: unknown */
	bool is_again;         /* the instruction will trap once more, to measure turn_ns */
	int64_t burst_runs_ns; /* the burst's own time between stops without stepping; a difference of clocks */
	uint32_t burst_runs;
	struct fp_anchor anchor;
	uint32_t window_steps;
	uint64_t stepped_ns; /* time that windows may still take */
	uint64_t code_page;  /* a page of code that was read: it is mapped */
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

/* Sets the trap flag: the next instruction is a step. The words are shown and without flags. */
void fp_set_trap(struct fp_thread *fp, ucontext_t *context);

/* Show the present thread's words around a call that reads them. fp_show_here returns NULL if they are shown
 * already; calls do not nest. In a handler, or in code that has jumped out of one, the words were not hidden;
 * `sets_masks`: hide them afterwards all the same, because the call has set masks. */
struct fp_thread *fp_show_here(void);
void fp_hide_here(struct fp_thread *fp, bool sets_masks);

/* --- counting (fp.c): one event of each of these kinds, at `context` or here --- */
void fp_count(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context);
void fp_count_here(uint32_t kinds, uint64_t function);

/* --- frequent kinds (fp/frequent.c) --- */

/* Called at a trap, before its step. Returns true if the instruction has to trap once more first. */
bool fp_frequent_trap(struct fp_thread *fp, uint64_t now_ns);
/* Called after a step that raised `kinds`: counts them at `context`. Returns true if the step continues with the
 * instruction at `next_pc`. */
bool fp_frequent_stepped(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context, uint64_t next_pc);
/* Called at a tick, with hidden words. */
void fp_frequent_tick(struct runtime_thread *thread, ucontext_t *context);
/* Turns of loops (fp/loops.c): called when a burst begins, at each stop before its events are added to the burst,
 * and when the burst ends. fp_loops_end returns true if `events`, the estimate for the masked time, is near the
 * estimate by the clock. */
void fp_loops_begin(struct fp_thread *fp);
void fp_loops_stop(struct fp_thread *fp, const ucontext_t *context);
bool fp_loops_end(struct fp_thread *fp, const double by_clock[FP_KIND_COUNT], double events[FP_KIND_COUNT]);

/* Returns to exact counting. */
void fp_frequent_reset(struct fp_thread *fp);
/* The same, without estimates to credit. */
void fp_frequent_forget(struct fp_thread *fp);
/* Called when nothing traps any more: credits the events of the masked time since the last burst, and those still
 * owed, to that burst's path. The words must be shown. `context`: of the handler; NULL: not in a handler. */
void fp_frequent_end(struct runtime_thread *thread, const ucontext_t *context);

#endif
