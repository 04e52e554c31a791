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
	bool believes_blocked;  /* the timers' signal: a new thread has it from its creator */
	bool holds;             /* one of the program's own is pending: it is truly blocked */
	uint64_t blocked_traps; /* of signals_traps(), which it believes blocked: they never are */
	uint64_t held_traps;    /* ... and which others have sent meanwhile */
	stack_t our_stack;      /* as we had installed it, when the program's took its place */
};
extern _Thread_local struct signals_thread signals_thread __attribute__((tls_model("initial-exec")));

/* Before all else of this header. */
void real_signals_begin(void);

/* From now on a signal is ours, with this action; the present one is what the program
 * believes. 0, or -1: the kernel refuses, errno says why. */
int signals_own(int number, const struct sigaction *ours);

/* In our handler of such a signal, when it is not for us: does what the program has set for
 * it, as the kernel would have done. May not return: a handler may jump. */
void signals_chain(int number, siginfo_t *info, void *context);

/* sigaction and sigprocmask as the program believes them to be: 0, or an errno. */
int signals_action(int number, const struct sigaction *action, struct sigaction *old);
int signals_mask(int how, const void *set, void *old);

/* The flag of siginterrupt, of a signal that is ours; false: it is not. */
bool signals_interrupt(int number, bool interrupts);
/* Whether the program cannot change the action of a signal by other means than signals_action. */
bool signals_is_owned(int number);

/* Whether a signal is a tick (tick.c). */
bool tick_is_ours(const siginfo_t *info);
/* The timers' signal as a set; 0: none yet. */
uint64_t signals_ours(void);
/* Those of floating point traps, while these are measured. A trap that finds its signal blocked
 * ends the process. */
uint64_t signals_traps(void);
/* A child of vfork has its parent's memory, but signals of its own: what it sets is set for it
 * alone, and no tick comes there. */
bool signals_in_vfork_child(void);
/* Whether the program handles the number of the timers' signal itself. */
bool signals_is_taken(void);
/* Lets ticks come again in this thread, unless that is wrong now. */
void signals_unblock(void);

/* A thread begins with this mask, which then blocks no ticks. */
void signals_thread_begin(sigset_t *mask);
/* A jump is about to restore this mask, which then blocks no ticks. */
void signals_jump(sigset_t *mask);

/* The program has set an alternate stack of so many bytes. */
void signals_stack_set(uint64_t bytes);
/* Some alternate stack is so small that ticks have to wait until handlers on it have ended. */
bool signals_has_small_stacks(void);

/* Right before another program takes this one's place, in a thread or in a vfork child: it inherits
 * what the program believes. And where that has failed. */
void signals_before_exec(void);
void signals_after_exec(void);

#endif
