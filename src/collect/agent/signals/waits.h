/*
 * Calls that the kernel does not restart after a signal, even if its handler requests it (signal(7)). The timers'
 * signal is kept out of them: a tick that falls due meanwhile is delivered directly after the call, and finds the
 * thread's `waiting` set.
 *
 *	struct runtime_thread *thread = waits_begin(REAL_ADDRESS(poll));
 *	int result = REAL(poll)(fds, count, timeout);
 *	waits_end(thread);
 *
 * These functions do not change errno. If a handler of the program interrupts the call, the handler runs without
 * ticks until it calls a function that waits, changes its mask or jumps out of the call. Cancellation or an
 * exception that leaves the call ends the wait, too.
 */
#ifndef COLLECT_AGENT_SIGNALS_WAITS_H
#define COLLECT_AGENT_SIGNALS_WAITS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/agent/causal/causal.h"

struct runtime_thread;

/* Makes the unwinder call us when it removes the frame of this function. The
 * compilers' own means for that would load the unwinder into every program. */
#define WAITS_END_WHEN_UNWOUND __asm__ volatile(".cfi_personality 0x1b, waits_unwound")

/* As waits_begin and waits_begin_masked, without WAITS_END_WHEN_UNWOUND. */
struct runtime_thread *waits_enter(uint64_t function);
struct runtime_thread *waits_enter_masked(uint64_t function, const sigset_t **mask, sigset_t *room);

/* Begins a wait. `function`: the address of the called function, for reports. Returns NULL, and does nothing, if
 * the thread has no ticks. */
static inline __attribute__((always_inline)) struct runtime_thread *waits_begin(uint64_t function)
{
	WAITS_END_WHEN_UNWOUND;
	return waits_enter(function);
}

/* The same for a call that sets a mask of its own while it waits. If *mask is not NULL, it becomes `room`, with
 * the kernel's part of *mask and the timers' signal. */
static inline __attribute__((always_inline)) struct runtime_thread *waits_begin_masked(uint64_t function,
										       const sigset_t **mask,
										       sigset_t *room)
{
	WAITS_END_WHEN_UNWOUND;
	return waits_enter_masked(function, mask, room);
}

/* Ends a wait. `thread`: the result of waits_begin. */
void waits_end(struct runtime_thread *thread);

/* Ends the wait of a call that does not return: called where a handler jumps out of it, and where it is unwound. */
void waits_abandon(void);

/* True once a socket has had a timeout: the kernel does not restart calls on such a socket. */
extern bool waits_on_sockets;
/* Sets it if the program that ran in this process before has left a socket with a timeout. Keeps errno. */
void waits_find_sockets(void);
/* Returns whether a socket's option is a timeout. */
bool waits_is_timeout(long level, long name);

/* Calls a function that waits. Its value is the function's result. If that is positive, an event
 * of the program has ended the wait, rather than time: descriptors are ready, a message has
 * arrived. */
#define WAITING(function, ...)                                                                  \
	({                                                                                      \
		struct runtime_thread *waiting_thread = waits_begin(REAL_ADDRESS(function));    \
		__typeof__(function(__VA_ARGS__)) waiting_result = REAL(function)(__VA_ARGS__); \
		waits_end(waiting_thread);                                                      \
		if (waiting_result > 0)                                                         \
			causal_woken(waiting_thread);                                           \
		waiting_result;                                                                 \
	})

#endif
