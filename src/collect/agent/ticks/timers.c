/* The timers of a thread, and the signal that they send. tick.c handles the signal and decides when the next one is
 * due. */
#include "collect/agent/ticks/tick.h"

#include <errno.h>
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

static void note_refusal(void)
{
	__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_SIGNAL, __ATOMIC_RELAXED);
}

void tick_set_timer(int timer, int flags, uint64_t ns)
{
	static const uint64_t ns_per_s = 1000000000;
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)(ns / ns_per_s),
						     .tv_nsec = (long)(ns % ns_per_s) } };
	if (machine_syscall(SYS_timer_settime, timer, flags, (long)&at, 0, 0, 0) < 0)
		note_refusal();
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

/* Notes that a thread has no timer: by `ulimit -i`, or by a filter. */
static void note_untimed(long error)
{
	if (error == -EAGAIN)
		__atomic_add_fetch(&runtime.process->threads_untimed, 1, __ATOMIC_RELAXED);
	else
		__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_SANDBOX, __ATOMIC_RELAXED);
	note_refusal();
}

/* Returns 0 or -errno. */
static long create_timer(struct runtime_thread *thread, clockid_t clock, const char *value, int *timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = runtime.signal };
	event.sigev_value.sival_ptr = (void *)(uintptr_t)value;
	event._sigev_un._tid = (pid_t)thread->tid;
	return machine_syscall(SYS_timer_create, clock, (long)&event, (long)timer, 0, 0, 0);
}

uint32_t tick_processors;
uint64_t tick_threads;

static uint32_t count_processors(void)
{
	uint64_t mask[64] = { 0 }; /* 4096 processors */
	uint32_t count = 0;
	long bytes = machine_syscall(SYS_sched_getaffinity, 0, sizeof(mask), (long)mask, 0, 0, 0);
	for (long i = 0; i * (long)sizeof(mask[0]) < bytes; i++)
		count += (uint32_t)__builtin_popcountll(mask[i]);
	return count ? count : 1;
}

void tick_create(struct runtime_thread *thread)
{
	if (!tick_processors)
		tick_processors = count_processors();
	if (runtime.channel->tick_ns == 0)
		return;
	if (!tick_has_handler) /* which was noted */
		return;
	long error = tick_waits_are_shielded ? create_timer(thread, CLOCK_MONOTONIC, &mono_tick, &thread->timer)
					     : create_timer(thread, CLOCK_THREAD_CPUTIME_ID, &cpu_tick, &thread->timer);
	thread->has_timer = error == 0;
	thread->has_cpu_timer = thread->has_timer && tick_waits_are_shielded &&
				create_timer(thread, CLOCK_THREAD_CPUTIME_ID, &cpu_tick, &thread->cpu_timer) == 0;
	if (thread->has_timer)
		__atomic_add_fetch(&tick_threads, 1, __ATOMIC_RELAXED);
	else
		note_untimed(error);
}

void tick_delete(struct runtime_thread *thread)
{
	if (thread->has_timer)
		machine_syscall(SYS_timer_delete, thread->timer, 0, 0, 0, 0, 0);
	if (thread->has_timer)
		__atomic_sub_fetch(&tick_threads, 1, __ATOMIC_RELAXED);
	if (thread->has_cpu_timer)
		machine_syscall(SYS_timer_delete, thread->cpu_timer, 0, 0, 0, 0, 0);
	thread->has_timer = thread->has_cpu_timer = false;
}

void tick_forked(void)
{
	tick_threads = 0; /* the child has none of its parent's timers */
}
