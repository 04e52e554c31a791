/*
 * The signals that the agent uses, and hides from the program: the timers' signal and, while floating point
 * exceptions are measured, SIGFPE and SIGTRAP.
 *
 *   the program ...                   the agent ...
 *   sets the action of such a signal  stores it and returns it to the program on request; calls the program's
 *                                     handler for signals that are not the agent's
 *   blocks signals                    leaves its own signals unblocked, and records for each thread which of them
 *                                     the program has blocked
 *   sends itself such a signal        calls the program's handler; if the program has the signal blocked, keeps it
 *                                     until the program unblocks it: the timers' signal as blocked and pending in
 *                                     the kernel, the others in held_traps
 *   sets an alternate stack           uses the program's stack, and its own where the program has none
 *
 * All libraries contain these functions. In the preloaded libraries, interpose/signals.c and interpose/waits.c
 * interpose the calls. Sets of signals have the kernel's form: one word, in which signal n is bit n - 1. All
 * functions may be called in signal handlers, like the calls that they implement.
 */
#ifndef COLLECT_AGENT_SIGNALS_SIGNALS_H
#define COLLECT_AGENT_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct signals_thread {
	bool program_blocks;    /* the program has the timers' signal blocked; a new thread inherits it */
	bool holds;             /* such a signal of the program is pending: the kernel blocks the number */
	uint64_t blocked_traps; /* signals_traps() that the program has blocked; the kernel never blocks them */
	uint64_t held_traps;    /* ... and that a process has sent meanwhile */
	stack_t our_stack;      /* the agent's alternate stack, which the program has replaced */
};
extern _Thread_local struct signals_thread signals_thread __attribute__((tls_model("initial-exec")));

/* Looks up the real sigaction. Called before the other functions of this header. */
void real_signals_begin(void);

/* Installs this action for a signal of the agent. The program continues to see the signal's present action.
 * Returns 0, or -1 with errno if the kernel refuses. */
int signals_own(int number, const struct sigaction *ours);

/* Called in our handler of such a signal if the signal is not the agent's: applies the action that the program has
 * set, as the kernel would. May not return: a handler may jump. */
void signals_chain(int number, siginfo_t *info, void *context);

/* sigaction and sigprocmask as the program sees them. Return 0 or an errno. */
int signals_action(int number, const struct sigaction *action, struct sigaction *old);
int signals_mask(int how, const void *set, void *old);

/* Sets the flag of siginterrupt for a signal that the agent owns. Returns false if it does not own it. */
bool signals_interrupt(int number, bool interrupts);
/* Returns whether the agent owns a signal: then only signals_action sets the program's action. */
bool signals_is_owned(int number);

/* Returns whether a signal is a tick (ticks/timers.c). */
bool tick_is_ours(const siginfo_t *info);
/* Returns the timers' signal as a set; 0: there is none yet. */
uint64_t signals_ours(void);
/* Returns the signals of floating point traps while these are measured, else 0. The kernel never blocks them,
 * because a trap whose signal is blocked ends the process. */
uint64_t signals_traps(void);
/* Returns whether this is a child of vfork. Such a child shares its parent's memory but has signals of its own:
 * its settings apply only to it, and it gets no ticks. */
bool signals_in_vfork_child(void);
/* Returns whether the program has a handler of its own for the number of the timers' signal. */
bool signals_is_taken(void);
/* Unblocks ticks in this thread, unless a signal is held or a handler runs on a small alternate stack. */
void signals_unblock(void);

/* Records which signals the mask of a new thread blocks, and removes the agent's signals from it. */
void signals_thread_begin(sigset_t *mask);
/* Does the same for the mask that a jump is about to restore. With small alternate stacks, ticks stay as they are
 * in it. */
void signals_jump(sigset_t *mask);

/* Sets the alternate stack that the program requests for this thread, and makes the actions of all signals fit it
 * before a signal is delivered on it. Returns 0, or -errno of sigaltstack. */
long signals_set_stack(const stack_t *stack);
/* Returns whether some alternate stack is so small that ticks must wait until handlers on it have returned. */
bool signals_has_small_stacks(void);

/* Called directly before exec, in a thread or in a vfork child, so that the new program inherits the state that
 * the program has set; the second is called after an exec that has failed. */
void signals_before_exec(void);
void signals_after_exec(void);

#endif
