/* Interposed calls by which a program sets, blocks and awaits signals: see signals.h. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/signals/signals.h"
#include "collect/agent/signals/waits.h"
#include "processor/agent/machine.h"

static int result_of(int error)
{
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

/* --- the action of a signal --- */

int __xpg_sigpause(int number); /* no header declares it */

/* Other names of the C library for the usual functions. They are aliases: a call by name could
 * reach a function of the program, which passes it on to us again (Erlang's virtual machine has
 * a sigaction of its own). */
INTERPOSED int __sigaction(int number, const struct sigaction *action, struct sigaction *old) ALIAS(sigaction);
INTERPOSED sighandler_t bsd_signal(int number, sighandler_t handler) ALIAS(signal);
INTERPOSED sighandler_t ssignal(int number, sighandler_t handler) ALIAS(signal);
INTERPOSED sighandler_t sysv_signal(int number, sighandler_t handler) ALIAS(__sysv_signal);
INTERPOSED int __sigsuspend(const sigset_t *mask) ALIAS(sigsuspend);

INTERPOSED int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return result_of(signals_action(number, action, old));
}

static sighandler_t set_owned(int number, sighandler_t handler, int flags, bool blocks)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;
	sigemptyset(&action.sa_mask);
	if (blocks)
		sigaddset(&action.sa_mask, number);
	return result_of(signals_action(number, &action, &old)) < 0 ? SIG_ERR : old.sa_handler;
}

/* For a signal that is not ours, calls the real function, which applies the flag that siginterrupt has set. A
 * handler that is set in this way neither blocks our signal nor runs on an alternate stack. */
static sighandler_t set_handler(int number, sighandler_t handler, sighandler_t (*real)(int, sighandler_t))
{
	struct sigaction old;
	if (handler != SIG_ERR && signals_ours() && signals_is_owned(number))
		return set_owned(number, handler, SA_RESTART, true);
	sighandler_t was = real(number, handler);
	if (was != SIG_ERR && signals_ours()) {
		struct sigaction now;
		/* Replaces the requests of the signal's former handler that the agent has recorded. */
		if (REAL(sigaction)(number, NULL, &now) == 0)
			(void)signals_action(number, &now, &old);
	}
	return was;
}

INTERPOSED sighandler_t signal(int number, sighandler_t handler)
{
	return set_handler(number, handler, REAL(signal));
}

INTERPOSED sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	if (handler != SIG_ERR && signals_ours() && signals_is_owned(number))
		return set_owned(number, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
	return set_handler(number, handler, REAL(__sysv_signal));
}

/* The C library's deprecation warning is for programs, not for this definition. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
INTERPOSED int siginterrupt(int number, int interrupts)
{
	if (signals_ours() && signals_interrupt(number, interrupts != 0))
		return 0;
	return REAL(siginterrupt)(number, interrupts);
}
#pragma GCC diagnostic pop

/* --- masks --- */

INTERPOSED int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return result_of(signals_mask(how, set, old));
}

INTERPOSED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return signals_mask(how, set, old);
}

/* If no signal of the program's own is held, the pending one is a tick. */
INTERPOSED int sigpending(sigset_t *set)
{
	int result = REAL(sigpending)(set);
	if (result == 0 && signals_ours() && !signals_thread.holds)
		sigdelset(set, runtime.signal);
	return result;
}

/* --- waiting for a signal --- */

INTERPOSED int sigsuspend(const sigset_t *mask)
{
	sigset_t room;
	struct runtime_thread *thread = waits_begin_masked(REAL_ADDRESS(sigsuspend), &mask, &room);
	int result = REAL(sigsuspend)(mask);
	waits_end(thread);
	return result;
}

/* Waits with the current mask without `number`; our signal is blocked. */
INTERPOSED int __xpg_sigpause(int number)
{
	return WAITING(__xpg_sigpause, number);
}

/* Ticks that were received in place of the program's signals; they are sent again directly after the wait. A timer
 * that has fired does not fire again before its tick is delivered. */
struct taken_ticks {
	siginfo_t ticks[2];
	uint32_t count;
};

static void requeue(struct taken_ticks *taken)
{
	enum { TICKS = sizeof(taken->ticks) / sizeof(taken->ticks[0]) };
	for (uint32_t i = 0; i < taken->count && i < TICKS; i++)
		if (machine_syscall(SYS_rt_tgsigqueueinfo, runtime.pid, runtime_thread->tid, runtime.signal,
				    (long)&taken->ticks[i], 0, 0) < 0)
			tick_start(runtime_thread);
}

static struct timespec until(uint64_t end_ns)
{
	const uint64_t second = 1000000000;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	uint64_t left = end_ns > now ? end_ns - now : 0;
	return (struct timespec){ .tv_sec = (time_t)(left / second), .tv_nsec = (long)(left % second) };
}

/* Returns the end of a wait in ns of CLOCK_MONOTONIC, or 0 if `timeout` is NULL or invalid. */
static uint64_t end_of(const struct timespec *timeout)
{
	const int64_t second = 1000000000, most = INT64_MAX / second / 2;
	if (!timeout || timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= second)
		return 0; /* the kernel reports at once that it is invalid */
	uint64_t seconds = (uint64_t)(timeout->tv_sec < most ? timeout->tv_sec : most);
	return runtime_now_ns(CLOCK_MONOTONIC) + seconds * (uint64_t)second + (uint64_t)timeout->tv_nsec;
}

static int await(const sigset_t *set, siginfo_t *info, const struct timespec *timeout, uint64_t function)
{
	struct taken_ticks taken = { .count = 0 };
	uint64_t end_ns = signals_ours() && runtime_thread ? end_of(timeout) : 0;
	struct timespec left;
	siginfo_t got;
	int result;
	struct runtime_thread *thread = waits_begin(function);
	while ((result = REAL(sigtimedwait)(set, &got, timeout)) > 0 && runtime_thread && result == runtime.signal &&
	       tick_is_ours(&got)) {
		taken.ticks[taken.count++ % 2] = got;
		if (timeout) {
			left = until(end_ns);
			timeout = &left;
		}
	}
	int error = errno;
	if (taken.count)
		requeue(&taken);
	if (result > 0 && result == runtime.signal)
		signals_thread.holds = false; /* further signals are held when they come */
	waits_end(thread);
	if (result > 0 && info)
		*info = got;
	errno = error;
	return result;
}

INTERPOSED int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return await(set, info, timeout, REAL_ADDRESS(sigtimedwait));
}

INTERPOSED int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return await(set, info, NULL, REAL_ADDRESS(sigwaitinfo));
}

INTERPOSED int sigwait(const sigset_t *set, int *number)
{
	int before = errno, found;
	do
		found = await(set, NULL, NULL, REAL_ADDRESS(sigwait));
	while (found < 0 && errno == EINTR);
	int error = found < 0 ? errno : 0;
	if (found > 0)
		*number = found;
	errno = before;
	return error;
}

/* Removes our signal from the set, because a reader of the descriptor would take ticks away from their thread. The
 * program does not get its own signals of that number either. */
INTERPOSED int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t now;
	if (!signals_ours())
		return REAL(signalfd)(fd, set, flags);
	sigemptyset(&now);
	memcpy(&now, set, sizeof(uint64_t));
	sigdelset(&now, runtime.signal);
	return REAL(signalfd)(fd, &now, flags);
}

/* --- alternate stacks --- */

/* Hides our alternate stack. A stack that the program sets replaces it; when the program disables that one, ours is
 * set again. */
INTERPOSED int sigaltstack(const stack_t *set, stack_t *old)
{
	enum { FLAGS_OF_MODE = ~(1U << 31) }; /* all flags but SS_AUTODISARM */
	const struct runtime_thread *thread = runtime_thread;
	stack_t was;
	long error = machine_call_of_program(SYS_sigaltstack, 0, (long)&was, 0, 0, 0, 0);
	bool was_ours = error == 0 && thread && thread->alternate_stack && was.ss_sp == thread->alternate_stack;
	if (was_ours) {
		signals_thread.our_stack = (stack_t){ .ss_sp = was.ss_sp, .ss_size = was.ss_size };
		was = (stack_t){ .ss_flags = SS_DISABLE };
	}
	if (set) {
		bool disables = ((unsigned)set->ss_flags & (unsigned)FLAGS_OF_MODE) == SS_DISABLE;
		const stack_t *none = signals_thread.our_stack.ss_sp ? &signals_thread.our_stack : set;
		error = disables ? machine_call_of_program(SYS_sigaltstack, (long)none, 0, 0, 0, 0, 0)
				 : signals_set_stack(set);
	}
	if (error == 0 && old)
		*old = was;
	return result_of((int)-error);
}
