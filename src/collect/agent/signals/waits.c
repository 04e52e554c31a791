/* Blocks the timers' signal, or stops the timers, during calls that the kernel does not restart. */
#include "collect/agent/signals/waits.h"

#include <string.h>
#include <sys/syscall.h>
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

bool waits_on_sockets;

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
	struct runtime_thread *thread = ticking();
	if (thread)
		begin(thread, function, signals_is_taken() ? WAITS_STOPPED : WAITS_BLOCKING);
	return thread;
}

struct runtime_thread *waits_enter_masked(uint64_t function, const sigset_t **mask, sigset_t *room)
{
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
		tick_wait_forget(thread);
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
