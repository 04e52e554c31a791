/*
 * Floating point exceptions: what fp.c, fp_*.c and interpose/fenv.c share.
 *
 * A processor has a vector unit, and may have an older legacy unit, each with words of its own
 * (processor/agent/fp_words.h). A thread's words have two views:
 *
 *   shown    as the program set them
 *   hidden   (in the processor, while we count) changed so that what we look for traps:
 *            vector  the kinds that are counted are unmasked
 *            legacy  `inexact` is unmasked and pending ("armed"): every instruction of that
 *                    unit but those that do not wait traps before it runs. Unmasking what we
 *                    look for is no way: an instruction that raises it would not store its
 *                    result, and is found at the next one, when its operands may be gone.
 *
 * Either trap leads to a step: the same instruction again, in the shown view but with no flag
 * up, and the trap flag set. What flags are up behind it, it has raised.
 *
 *             SIGFPE                       SIGTRAP
 *   hidden ----------> stepping (shown) ------------> hidden
 *             enter_step                   leave_step
 *
 * An instruction that can be executed in the handler (processor/agent/fp_execute.h) is: then there is no
 * second signal. A second SIGFPE of a step is the program's own, of a kind that it unmasked itself.
 */
#ifndef COLLECT_AGENT_FP_FP_H
#define COLLECT_AGENT_FP_FP_H

#include "collect/agent/core/runtime.h"
#include "processor/agent/fp_words.h"

/* How far it is from an instruction to the next one that traps. */
struct fp_gap {
	uint64_t pc;
	uint32_t ps;
	uint16_t samples; /* 0: not known */
	bool is_far;      /* further than can be stepped: told by the clock */
};

enum { FP_GAPS = 64 };

/* A stop that is looked for in each burst: fp/loops.c. */
struct fp_anchor {
	uint64_t pc;
	uint32_t seen;                         /* in this burst */
	uint32_t steady;                       /* registers that change alike: bit n is values[n] */
	greg_t values[FP_GENERAL_REGISTERS];   /* when it was seen last */
	int64_t changes[FP_GENERAL_REGISTERS]; /* in a turn */
	uint64_t turns;                        /* in the masked time before this burst; 0: not known */
	double per_ns;                         /* turns, the most that was seen lately */
	uint32_t raised_first[FP_KIND_COUNT];  /* of the burst, when it was seen first and last */
	uint32_t raised_last[FP_KIND_COUNT];
	double per_turn[FP_KIND_COUNT];       /* events, as the last burst that saw it has them */
	double known_per_turn[FP_KIND_COUNT]; /* ... the one before this */
};

struct fp_thread {
	bool on;                                  /* its words are hidden, but in handlers of the program's */
	bool is_shown;                            /* the program is in a call of <fenv.h>: fp_show_here */
	bool was_hidden;                          /* ... and was hidden before */
	bool vector_underflow;                    /* was up when they were hidden last */
	bool legacy_inexact;                      /* what an armed legacy unit really had in its flag */
	uint8_t vector_unmasked, legacy_unmasked; /* kinds that the program unmasked itself */

	/* A step. */
	bool is_stepping;
	bool is_window;       /* more than one instruction: fp/frequent.c */
	bool loads_flags;     /* the instruction loads the legacy unit's flags rather than raises them */
	bool is_legacy;       /* an instruction of the legacy unit */
	uint8_t vector_flags; /* what was up before */
	uint8_t legacy_flags;
	bool blocked_fpe, blocked_trap; /* in what was interrupted */
	uint64_t pc;                    /* the instruction's */
	uint64_t entered_ns;            /* CLOCK_MONOTONIC: at the start of the step */

	void *area; /* of fp_execute.c; NULL: none */

	/* fp/frequent.c: kinds that are too many for a trap each, and the legacy unit's instructions if they are. */
	uint8_t frequent;
	bool legacy_frequent;
	bool is_burst;     /* all are trapped for a moment */
	uint64_t level_ns; /* time in traps, less what is allowed since */
	uint64_t level_at_ns;
	uint64_t signal_ns;           /* a signal's way there and back */
	uint32_t steps, legacy_steps; /* since the level was 0 */
	uint32_t exact_steps;         /* of the thread, up to EXACT_STEPS */
	uint32_t raised[FP_KIND_COUNT];

	uint64_t masked_at_ns; /* CPU time at the end of the last burst */
	uint64_t masked_ns;    /* what the burst speaks for */
	uint32_t burst_stops, burst_target;
	uint32_t burst_events;
	uint32_t burst_raised[FP_KIND_COUNT];
	uint64_t burst_ps;            /* the program's own time, from stop to stop */
	uint32_t rare_bursts;         /* in a row */
	uint64_t owed[FP_KIND_COUNT]; /* estimated, to be credited to the next event of the kind */
	double per_ns[FP_KIND_COUNT]; /* what the last bursts have found; 0: none yet */
	bool has_path;                /* of the last burst: the walk right behind this struct */

	/* From a stop to the next. */
	struct fp_gap gaps[FP_GAPS];
	struct fp_gap *gap;             /* of the last stop; NULL: the burst's first is waited for */
	uint64_t run_at_ns, run_cpu_ns; /* when the program went on, untrapped, by two clocks; 0: it is stepped */
	uint64_t turn_ns;      /* CPU time from a handler to the next one where nothing is between; 0: not known */
	bool is_again;         /* the instruction is about to trap once more, which shows that time */
	int64_t burst_runs_ns; /* the burst's own time between stops that were not stepped; a difference of clocks */
	uint32_t burst_runs;
	struct fp_anchor anchor;
	uint32_t window_steps;
	uint64_t stepped_ns; /* time that may still be spent in windows */
	uint64_t code_page;  /* code there was read: it is there */
};

/* How often cpprof_start or cpprof_stop was called (fp/threads.c). */
extern uint32_t fp_turns;

/* --- views (fp.c) --- */

/* Which kinds are unmasked in the vector unit, and whether the legacy unit is armed, at present. */
uint8_t fp_unmasked(const struct fp_thread *fp);
bool fp_is_armed(const struct fp_thread *fp);
/* Do they bear our marks, rather than those of a handler or of the program's own making? */
bool fp_are_hidden(const struct fp_thread *fp, const struct fp_words *words);
void fp_show(const struct fp_thread *fp, struct fp_words *words);
/* Notes what the program has in them. */
void fp_hide(struct fp_thread *fp, struct fp_words *words);

/* Sets the trap flag: the next instruction is a step's, the words being shown and without flags. */
void fp_set_trap(struct fp_thread *fp, ucontext_t *context);
void fp_enter_step(struct fp_thread *fp, ucontext_t *context);

/* The present thread's words as the program set them, around a call that looks at them;
 * NULL: they are. Nests not. In a handler, or where a program has jumped to from one, they
 * were not hidden: `sets_masks`, what the call has set is to be known nevertheless. */
struct fp_thread *fp_show_here(void);
void fp_hide_here(struct fp_thread *fp, bool sets_masks);

/* --- counting (fp.c): an event of these kinds at `context` --- */
void fp_count(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context);
void fp_count_here(uint32_t kinds, uint64_t function);

/* --- frequent kinds (fp/frequent.c) --- */

/* Before a step, at a trap. True: the instruction is to trap once more first. */
bool fp_frequent_trap(struct fp_thread *fp, uint64_t now_ns);
/* After one that raised `kinds`: counts them at `context`. True: the step goes on for the
 * instruction at `next_pc`. */
bool fp_frequent_stepped(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context, uint64_t next_pc);
/* At a tick, the words being hidden. */
void fp_frequent_tick(struct runtime_thread *thread, ucontext_t *context);
/* Turns of loops (fp/loops.c): a burst begins; stops, before this stop's events are added to it; and
 * ends. True: `events` are those of the masked time, which is not far from what the clock says. */
void fp_loops_begin(struct fp_thread *fp);
void fp_loops_stop(struct fp_thread *fp, const ucontext_t *context);
bool fp_loops_end(struct fp_thread *fp, const double by_clock[FP_KIND_COUNT], double events[FP_KIND_COUNT]);

/* Begins anew. */
void fp_frequent_reset(struct fp_thread *fp);
/* ... with nothing owed. */
void fp_frequent_forget(struct fp_thread *fp);
/* Nothing will trap any more: credits what was masked since the last burst, and what is owed, to
 * that burst's path. The words must be shown. `context`: of a handler, or NULL: not in one. */
void fp_frequent_end(struct runtime_thread *thread, const ucontext_t *context);

#endif
