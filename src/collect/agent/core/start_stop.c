/* The public functions that control the recording: is_recording, start, stop, flush. */
#include <cpprof/runtime.h>

#include <errno.h>
#include <sys/syscall.h>

#include "collect/agent/core/interface.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

int cpprof_is_recording(void)
{
	const struct channel *channel = runtime.channel;
	return channel && __atomic_load_n(&runtime.on, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&channel->is_over, __ATOMIC_RELAXED);
}

/* --- start and stop --- */

/* Pid of the process that turns counting on or off: one thread at a time; 0: none. A forked process may start with
 * its parent's pid here, which counts as none. */
static uint32_t turning;

static void begin_turn(void)
{
	for (;;) {
		uint32_t pid = __atomic_load_n(&turning, __ATOMIC_RELAXED);
		if (pid == runtime.pid)
			machine_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		else if (__atomic_compare_exchange_n(&turning, &pid, runtime.pid, false, __ATOMIC_ACQUIRE,
						     __ATOMIC_RELAXED))
			return;
	}
}

static void end_turn(void)
{
	__atomic_store_n(&turning, 0, __ATOMIC_RELEASE);
}

static void turn(bool on)
{
	int error = errno;
	cpprof_runtime_begin();
	hooks_turn(on);
	if (runtime.channel) {
		begin_turn();
		struct runtime_thread *thread = interface_enter();
		on = on && !runtime.is_stopped;
		bool changes = runtime.on != on;
		if (!on)
			__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_WINDOWS, __ATOMIC_RELAXED);
		/* Before the other steps: a thread that starts now starts its own ticks, and may do so twice. */
		__atomic_store_n(&runtime.on, on, __ATOMIC_SEQ_CST);
		own_match();
		if (changes)
			runtime_each_thread(on ? tick_start : tick_stop);
		if (changes && runtime.fp_kinds)
			fp_turn(thread);
		if (thread)
			runtime_leave(thread);
		end_turn();
	}
	errno = error;
}

void cpprof_start(void)
{
	turn(true);
}

void cpprof_stop(void)
{
	turn(false);
}

/* --- flush --- */

int cpprof_flush(void)
{
	enum { LONGEST_MS = 10 * 1000 };
	int error = errno;
	int result = -1;
	struct runtime_thread *thread = runtime.alone ? NULL : interface_enter();
	if (runtime.alone) { /* everything except a trace's last events is in the file already */
		hooks_flush();
		result = 0;
	}
	if (thread) {
		/* The monitor reads `flush_wanted` after the record: it finds at least our number. */
		uint32_t wanted = __atomic_add_fetch(&runtime.process->flush_wanted, 1, __ATOMIC_ACQ_REL);
		runtime_write_event(thread, CHANNEL_FLUSH, 0, 0, "", 0);
		runtime_leave(thread);
		runtime_ring_bell();
		result = runtime_wait_for(&runtime.process->flush_done, wanted, LONGEST_MS) ? 0 : -1;
	}
	errno = error;
	return result;
}
