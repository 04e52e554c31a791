/*
 * The signals that are ours, and the program that must not notice: the timers' one, and
 * while floating point exceptions are measured SIGFPE and SIGTRAP.
 *
 *   what the program sets for such a signal   is kept here and shown to it when it asks;
 *                                             its handler is called for what is not ours
 *   what it blocks                            blocks all but the timers' signal, of which
 *                                             each thread keeps what the program believes
 *   a signal of that number that the program  is run by its handler; where it believes it
 *   sends to itself                           blocked, it is held: now truly blocked and
 *                                             pending, until the program unblocks it
 *   its alternate stacks                      are its own; ours is there where it has none
 *
 * In both libraries; the calls themselves are interposed by interpose/signals.c and
 * interpose/waits.c in the preloaded one. Sets of signals are the kernel's: one word, signal
 * n is bit n - 1. All may be called in signal handlers, as what they stand for may.
 */
#ifndef COLLECT_AGENT_SIGNALS_SIGNALS_H
#define COLLECT_AGENT_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct signals_thread {
	bool program_blocks;    /* the timers' signal: a new thread has it from its creator */
	bool holds;             /* one of the program's own is pending: it is truly blocked */
	uint64_t blocked_traps; /* those of signals_traps() that it has blocked: the kernel never blocks them */
	uint64_t held_traps;    /* ... and which others have sent meanwhile */
	stack_t our_stack;      /* our own action, before the program's replaced it */
};
extern _Thread_local struct signals_thread signals_thread __attribute__((tls_model("initial-exec")));

/* Before all else of this header. */
void real_signals_begin(void);

/* Takes a signal for the agent, with this action; its present action is the one
 * that the program sees. Returns 0, or -1 with errno if the kernel refuses. */
int signals_own(int number, const struct sigaction *ours);

/* Called in our handler of such a signal if it is not ours: does what the
 * program has set for it, as the kernel would do. May not return: a handler may
 * jump. */
void signals_chain(int number, siginfo_t *info, void *context);

/* sigaction and sigprocmask as the program sees them. Return 0 or an errno. */
int signals_action(int number, const struct sigaction *action, struct sigaction *old);
int signals_mask(int how, const void *set, void *old);

/* The flag of siginterrupt, of a signal that is ours; false: it is not. */
bool signals_interrupt(int number, bool interrupts);
/* Returns whether the program can change the action of a signal only by
 * signals_action. */
bool signals_is_owned(int number);

/* Returns whether a signal is a tick (tick.c). */
bool tick_is_ours(const siginfo_t *info);
/* The timers' signal as a set; 0: none yet. */
uint64_t signals_ours(void);
/* Those of floating point traps, while these are measured. A trap that finds its signal blocked
 * ends the process. */
uint64_t signals_traps(void);
/* A child of vfork has its parent's memory, but signals of its own: its
 * settings apply only to it, and it gets no ticks. */
bool signals_in_vfork_child(void);
/* Returns whether the program handles the number of the timers' signal itself. */
bool signals_is_taken(void);
/* Unblocks ticks in this thread, unless that would be wrong now. */
void signals_unblock(void);

/* A thread begins with this mask, which then blocks no ticks. */
void signals_thread_begin(sigset_t *mask);
/* A jump is about to restore this mask, which then blocks no ticks. */
void signals_jump(sigset_t *mask);

/* Sets the alternate stack that the program requests for this thread, and makes the actions of all signals fit it
 * before a signal is delivered on it. Returns 0, or -errno of sigaltstack. */
long signals_set_stack(const stack_t *stack);
/* Some alternate stack is so small that ticks have to wait until handlers on it have ended. */
bool signals_has_small_stacks(void);

/* Called directly before exec, in a thread or in a vfork child, so that the new
 * program inherits the state that the program has set; and after a failed exec. */
void signals_before_exec(void);
void signals_after_exec(void);

#endif
