/* Blocks the timers' signal, or stops the timers, during calls that the kernel does not restart. */
#include "collect/agent/signals/waits.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unwind.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

/* Values of runtime_thread.waiting. */
enum {
	WAITS_NOT,
	WAITS_BLOCKING,  /* the timers' signal is blocked */
	WAITS_WITH_MASK, /* ... by the call itself */
	/* The program handles the number of the timers' signal and may wait for it: it is not blocked, and the
	 * timers are stopped. */
	WAITS_STOPPED
};

/* --- sockets with a timeout --- */

bool waits_on_sockets;

bool waits_is_timeout(long level, long name)
{
	enum { RECEIVE_64 = 66, SEND_64 = 67 }; /* the same options with 64-bit times on all processors */
	return level == SOL_SOCKET &&
	       (name == SO_RCVTIMEO || name == SO_SNDTIMEO || name == RECEIVE_64 || name == SEND_64);
}

static bool has_timeout(long fd, long name)
{
	struct timeval timeout = { 0 };
	socklen_t bytes = sizeof(timeout);
	return machine_syscall(SYS_getsockopt, fd, SOL_SOCKET, name, (long)&timeout, (long)&bytes, 0) == 0 &&
	       (timeout.tv_sec || timeout.tv_usec);
}

/* Returns the number that a name in /proc/self/fd is; for other names any number. */
static long number_of(const char *name)
{
	enum { DECIMAL = 10 };
	long number = 0;
	for (; *name >= '0' && *name <= '9'; name++)
		number = number * DECIMAL + (*name - '0');
	return number;
}

void waits_find_sockets(void)
{
	_Alignas(struct dirent64) char entries[2048];
	long got, folder = machine_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/fd",
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	if (folder < 0)
		return;
	while ((got = machine_syscall(SYS_getdents64, folder, (long)entries, sizeof(entries), 0, 0, 0)) > 0) {
		const struct dirent64 *entry;
		for (long at = 0; at < got; at += entry->d_reclen) {
			entry = (const void *)(entries + at);
			long fd = number_of(entry->d_name);
			waits_on_sockets |= has_timeout(fd, SO_RCVTIMEO) || has_timeout(fd, SO_SNDTIMEO);
		}
	}
	machine_syscall(SYS_close, folder, 0, 0, 0, 0, 0);
}

/* --- waiting --- */

static struct runtime_thread *ticking(void)
{
	struct runtime_thread *thread = runtime_thread;
	if (!thread || !thread->has_timer || (thread->busy && runtime_is_at_work(thread, RUNTIME_HERE)))
		return NULL;
	return thread;
}

static void begin(struct runtime_thread *thread, uint64_t function, uint32_t how)
{
	uint64_t ours = signals_ours();
	if (how == WAITS_STOPPED)
		tick_pause(thread);
	else if (how == WAITS_BLOCKING)
		machine_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&ours, 0, sizeof(ours), 0, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->waiting = how;
	tick_wait_begins(thread, function);
}

struct runtime_thread *waits_enter(uint64_t function)
{
	causal_wakes();
	struct runtime_thread *thread = ticking();
	if (thread)
		begin(thread, function, signals_is_taken() ? WAITS_STOPPED : WAITS_BLOCKING);
	return thread;
}

struct runtime_thread *waits_enter_masked(uint64_t function, const sigset_t **mask, sigset_t *room)
{
	causal_wakes();
	struct runtime_thread *thread = *mask ? ticking() : NULL;
	if (!thread)
		return *mask ? NULL : waits_enter(function);
	if (signals_is_taken()) {
		begin(thread, function, WAITS_STOPPED);
		return thread;
	}
	uint64_t set;
	memcpy(&set, *mask, sizeof(set));
	set |= signals_ours();
	memcpy(room, &set, sizeof(set));
	*mask = room;
	begin(thread, function, WAITS_WITH_MASK);
	return thread;
}

/* Ends a wait; the wait of a handler that interrupted this one may have ended it already. A call with a mask of
 * its own restores the thread's mask when it returns. */
static void end(struct runtime_thread *thread, bool returns)
{
	if (thread->waiting == WAITS_STOPPED)
		tick_resume(thread);
	else if (thread->waiting != WAITS_WITH_MASK || !returns)
		signals_unblock(); /* a tick that fell due comes now, as a part of the wait */
	if (returns)
		tick_wait_ends(thread);
	else
		tick_wait_clear(thread);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->waiting = WAITS_NOT;
}

void waits_end(struct runtime_thread *thread)
{
	if (thread)
		end(thread, true);
}

void waits_abandon(void)
{
	struct runtime_thread *thread = runtime_thread;
	if (!thread || !thread->waiting)
		return;
	end(thread, false);
}

/* A personality routine of the C++ ABI. The unwinder calls it in the search phase and in the cleanup phase; only
 * the latter removes the frame. */
_Unwind_Reason_Code waits_unwound(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
				  struct _Unwind_Exception *exception, struct _Unwind_Context *context);

__attribute__((used)) _Unwind_Reason_Code waits_unwound(int version, _Unwind_Action actions,
							_Unwind_Exception_Class kind,
							struct _Unwind_Exception *exception,
							struct _Unwind_Context *context)
{
	(void)version;
	(void)kind;
	(void)exception;
	(void)context;
	if (actions & _UA_CLEANUP_PHASE)
		waits_abandon();
	return _URC_CONTINUE_UNWIND;
}
