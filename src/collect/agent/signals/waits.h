/*
 * Calls that the kernel does not restart after a signal, whatever its handler asks for
 * (signal(7)): the timers' signal is kept out of them. A tick that falls due meanwhile
 * comes right behind the call and finds the thread's `waiting` set.
 *
 *	struct runtime_thread *thread = waits_begin(REAL_ADDRESS(poll));
 *	int result = REAL(poll)(fds, count, timeout);
 *	waits_end(thread);
 *
 * errno is left alone. A handler of the program's that interrupts the call runs without
 * ticks until it waits itself, changes its mask or jumps out of it. A thread that is cancelled
 * in the call, or that an exception takes out of it, has ended it as well.
 */
#ifndef COLLECT_AGENT_SIGNALS_WAITS_H
#define COLLECT_AGENT_SIGNALS_WAITS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime_thread;

/* Makes the unwinder call us when it removes the frame of this function. The
 * compilers' own means for that would load the unwinder into every program. */
#define WAITS_END_WHEN_UNWOUND __asm__ volatile(".cfi_personality 0x1b, waits_unwound")

/* As below, without that. */
struct runtime_thread *waits_enter(uint64_t function);
struct runtime_thread *waits_enter_masked(uint64_t function, const sigset_t **mask, sigset_t *room);

/* `function`: the called one, for reports. NULL if there are no ticks and
 * nothing is done. */
static inline __attribute__((always_inline)) struct runtime_thread *waits_begin(uint64_t function)
{
	WAITS_END_WHEN_UNWOUND;
	return waits_enter(function);
}

/* The same for a call that has a mask of its own while it waits: *mask becomes
 * `room`, with the kernel's part of *mask and the timers' signal. NULL: there
 * is none. */
static inline __attribute__((always_inline)) struct runtime_thread *waits_begin_masked(uint64_t function,
										       const sigset_t **mask,
										       sigset_t *room)
{
	WAITS_END_WHEN_UNWOUND;
	return waits_enter_masked(function, mask, room);
}

/* `thread`: the result of begin. */
void waits_end(struct runtime_thread *thread);

/* Called in a handler that leaves by a jump, and where a call is unwound: the
 * interrupted call does not end. */
void waits_abandon(void);

/* Some socket has had a timeout: with one, calls on sockets are not restarted. */
extern bool waits_on_sockets;

/* The value of a call that waits. */
#define WAITING(function, ...)                                                                  \
	({                                                                                      \
		struct runtime_thread *waiting_thread = waits_begin(REAL_ADDRESS(function));    \
		__typeof__(function(__VA_ARGS__)) waiting_result = REAL(function)(__VA_ARGS__); \
		waits_end(waiting_thread);                                                      \
		waiting_result;                                                                 \
	})

#endif
