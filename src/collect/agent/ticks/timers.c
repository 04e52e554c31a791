/* The timers of a thread, and the signal that they send. tick.c handles the signal and decides when the next one is
 * due. */
#include "collect/agent/ticks/tick.h"

#include <sys/syscall.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

#ifdef CPPROF_PRELOADED
const bool tick_waits_are_shielded = true;
#else
const bool tick_waits_are_shielded = false;
#endif

/* The timers' signals carry the addresses of these variables, which distinguish them from other signals of their
 * number. */
static const char mono_tick, cpu_tick;

void tick_set_timer(int timer, int flags, uint64_t ns)
{
	static const uint64_t ns_per_s = 1000000000;
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)(ns / ns_per_s),
						     .tv_nsec = (long)(ns % ns_per_s) } };
	machine_syscall(SYS_timer_settime, timer, flags, (long)&at, 0, 0, 0);
}

void tick_delete_timer(int timer)
{
	machine_syscall(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}

bool tick_is_ours(const siginfo_t *info)
{
	const void *value = info->si_value.sival_ptr;
	return info->si_code == SI_TIMER && (value == &mono_tick || value == &cpu_tick);
}

bool tick_is_by_cpu(const siginfo_t *info)
{
	return info->si_value.sival_ptr == &cpu_tick;
}

void tick_send(struct runtime_thread *thread)
{
	siginfo_t info = { .si_signo = runtime.signal, .si_code = SI_TIMER };
	info.si_value.sival_ptr = (void *)(uintptr_t)&mono_tick;
	machine_syscall(SYS_rt_tgsigqueueinfo, runtime.pid, thread->tid, runtime.signal, (long)&info, 0, 0);
}

static bool create_timer(struct runtime_thread *thread, clockid_t clock, const char *value, int *timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = runtime.signal };
	event.sigev_value.sival_ptr = (void *)(uintptr_t)value;
	event._sigev_un._tid = (pid_t)thread->tid;
	return machine_syscall(SYS_timer_create, clock, (long)&event, (long)timer, 0, 0, 0) == 0;
}

void tick_create(struct runtime_thread *thread)
{
	if (runtime.channel->tick_ns == 0)
		return;
	if (!tick_waits_are_shielded) {
		thread->has_timer = create_timer(thread, CLOCK_THREAD_CPUTIME_ID, &cpu_tick, &thread->timer);
	} else {
		thread->has_timer = create_timer(thread, CLOCK_MONOTONIC, &mono_tick, &thread->timer);
		thread->has_cpu_timer = thread->has_timer &&
					create_timer(thread, CLOCK_THREAD_CPUTIME_ID, &cpu_tick, &thread->cpu_timer);
	}
	if (!thread->has_timer)
		__atomic_add_fetch(&runtime.process->threads_unwatched, 1, __ATOMIC_RELAXED);
}
