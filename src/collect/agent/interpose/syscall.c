/* syscall(): programs and libraries use it for system calls without a function in the C library, and also for some
 * with one. The agent handles calls that wait (interpose/waits.c, interpose/locks.h), calls that set signal masks,
 * and forks. */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/agent/causal/causal.h"
#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/interpose/locks.h"
#include "collect/agent/interpose/mlock.h"
#include "collect/agent/interpose/sandbox.h"
#include "collect/agent/signals/signals.h"
#include "collect/agent/signals/waits.h"

enum { ARGUMENTS = 6, MASK_BYTES = 8, NO_MASK = -1 };

/* Returns true if the kernel cannot restart this wait, because it has a timeout. The kernel can restart waits
 * without one, and those for a mutex with priority inheritance. */
static bool futex_waits(const long arguments[ARGUMENTS])
{
	long command = arguments[1] & FUTEX_CMD_MASK;
	return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && arguments[3] != 0;
}

/* io_uring_enter(ring, submitted, awaited, flags, mask, bytes). With URING_HAS_STRUCTURE the last two describe a
 * structure of the kernel, struct uring_wait here. */
enum { URING_AWAITED = 2, URING_FLAGS = 3, URING_MASK = 4, URING_BYTES = 5, URING_AWAITS = 1, URING_HAS_STRUCTURE = 8 };
struct uring_wait {
	const sigset_t *mask;
	uint32_t mask_bytes, spare;
	uint64_t timeout;
};

static bool uring_waits(const long arguments[ARGUMENTS])
{
	return arguments[URING_AWAITED] != 0 && arguments[URING_FLAGS] & URING_AWAITS;
}

static bool never_restarts(long number, const long arguments[ARGUMENTS])
{
	switch (number) {
	case SYS_futex:
		return futex_waits(arguments);
	case SYS_poll:
		return arguments[2] != 0;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return arguments[3] != 0;
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_pwait2:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		return true;
	case SYS_io_uring_enter:
		return uring_waits(arguments);
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_splice:
	case SYS_sendfile:
		return waits_on_sockets;
	default:
		return false;
	}
}

/* Returns the index of the argument that is the signal mask during the call, or NO_MASK. */
static int mask_argument(long number)
{
	switch (number) {
	case SYS_rt_sigsuspend:
		return 0;
	case SYS_ppoll:
		return 3;
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_uring_enter:
		return 4;
	default:
		return NO_MASK;
	}
}

static long call(long number, const long arguments[ARGUMENTS])
{
	return REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
			     arguments[5]);
}

/* The sixth argument of pselect6 and io_pgetevents points to this: a mask's address and size. */
struct mask_pointer {
	const sigset_t *mask;
	size_t bytes;
};

static long call_uring(long arguments[ARGUMENTS])
{
	struct uring_wait wait;
	sigset_t room;
	/* If the structure cannot be read, the kernel reports that. */
	if (arguments[URING_BYTES] != sizeof(wait) ||
	    !runtime_copy(&wait, sizeof(wait), (uint64_t)arguments[URING_MASK]))
		return call(SYS_io_uring_enter, arguments);
	struct runtime_thread *thread = waits_begin_masked(REAL_ADDRESS(syscall), &wait.mask, &room);
	arguments[URING_MASK] = (long)&wait;
	long result = call(SYS_io_uring_enter, arguments);
	waits_end(thread);
	return result;
}

static long call_waiting(long number, long arguments[ARGUMENTS])
{
	if (number == SYS_io_uring_enter && arguments[URING_FLAGS] & URING_HAS_STRUCTURE)
		return call_uring(arguments);
	int position = mask_argument(number);
	struct mask_pointer pointer = { NULL, MASK_BYTES };
	sigset_t room;
	if (position != NO_MASK)
		pointer.mask = (const sigset_t *)arguments[position];
	else if ((number == SYS_pselect6 || number == SYS_io_pgetevents) && arguments[ARGUMENTS - 1])
		memcpy(&pointer, (const void *)arguments[ARGUMENTS - 1], sizeof(pointer));
	struct runtime_thread *thread = waits_begin_masked(REAL_ADDRESS(syscall), &pointer.mask, &room);
	if (position != NO_MASK)
		arguments[position] = (long)pointer.mask;
	else if (pointer.mask)
		arguments[ARGUMENTS - 1] = (long)&pointer;
	long result = call(number, arguments);
	waits_end(thread);
	return result;
}

static long change_mask(const long arguments[ARGUMENTS])
{
	int error = signals_mask((int)arguments[0], (const void *)arguments[1], (void *)arguments[2]);
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

/* Returns true for locks that do not use the C library's: locks of Rust, and of C++'s atomics. */
static bool waits_for_lock(long number, const long arguments[ARGUMENTS])
{
	if (number != SYS_futex)
		return number == SYS_futex_waitv;
	switch ((int)arguments[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

/* In the child, hooks must not count in the parent's tables. */
static long call_fork(long number, const long arguments[ARGUMENTS])
{
	long result = call(number, arguments);
	if (result == 0)
		runtime_forked();
	return result;
}

static bool forks(long number, const long arguments[ARGUMENTS])
{
	return number == SYS_fork || (number == SYS_clone && !(arguments[0] & CLONE_VM));
}

static long call_sandboxing(long number, const long arguments[ARGUMENTS])
{
	struct sandbox sandbox;
	sandbox_begins(&sandbox, number, arguments);
	long result = call(number, arguments);
	sandbox_ended(&sandbox, result);
	return result;
}

static long dispatch(long number, long arguments[ARGUMENTS])
{
	if (hooks_measure() && forks(number, arguments))
		return call_fork(number, arguments);
	if (number == SYS_rt_sigprocmask && arguments[3] == MASK_BYTES && signals_ours())
		return change_mask(arguments);
	if (number == SYS_prctl || number == SYS_seccomp)
		return call_sandboxing(number, arguments);
	if (number == SYS_mlockall)
		return mlock_all((int)arguments[0]);
	if (number == SYS_setsockopt && waits_is_timeout((int)arguments[1], (int)arguments[2]))
		__atomic_store_n(&waits_on_sockets, true, __ATOMIC_RELAXED);
	return never_restarts(number, arguments) ? call_waiting(number, arguments) : call(number, arguments);
}

INTERPOSED long syscall(long number, ...)
{
	long arguments[ARGUMENTS];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (!waits_for_lock(number, arguments) || !locks_are_watched()) {
		if (number == SYS_futex || number == SYS_exit || number == SYS_exit_group)
			causal_wakes();
		return dispatch(number, arguments);
	}
	struct lock_wait wait = lock_wait_begins(RUNTIME_HERE);
	long result = dispatch(number, arguments);
	lock_wait_ended(&wait, REAL_ADDRESS(syscall), result == 0);
	return result;
}
