#include "collect/agent/causal/causal.h"

#include <errno.h>
#include <sys/syscall.h>

#include "processor/agent/machine.h"

static struct channel_experiment *experiment(void)
{
	return &runtime.channel->experiment;
}

static uint64_t delays_now(void)
{
	return __atomic_load_n(&experiment()->delays, __ATOMIC_ACQUIRE);
}

static bool is_over(void)
{
	return runtime_stamp_ns() >= __atomic_load_n(&experiment()->until_ns, __ATOMIC_RELAXED);
}

/* Follows a new turn, in which no thread has paid anything yet. */
static void follow(struct runtime_thread *thread, uint64_t delays)
{
	uint64_t turn = delays >> CHANNEL_DELAY_BITS;
	if (thread->causal_turn == turn)
		return;
	thread->causal_turn = turn;
	thread->paid_ns = 0;
	thread->ahead_ns = 0;
}

static void cancel_pauses(struct runtime_thread *thread)
{
	uint64_t delays = delays_now(), owed = delays & CHANNEL_DELAY_MASK;
	follow(thread, delays);
	if (thread->paid_ns < owed)
		thread->paid_ns = owed;
}

void causal_thread_begins(struct runtime_thread *thread)
{
	if (runtime.has_experiments)
		cancel_pauses(thread);
}

/* --- pauses --- */

/* Sleeps for the given time. Returns the time that it took. */
static uint64_t sleep_for(uint64_t ns)
{
	static const uint64_t ns_per_s = 1000000000;
	uint64_t start = runtime_now_ns(CLOCK_MONOTONIC), end = start + ns;
	const struct timespec until = { .tv_sec = (time_t)(end / ns_per_s), .tv_nsec = (long)(end % ns_per_s) };
	while (machine_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&until, 0, 0, 0) == -EINTR)
		;
	return runtime_now_ns(CLOCK_MONOTONIC) - start;
}

/* Pays what the thread owes. The kernel wakes sleepers too late by its timers' slack, which
 * later pauses make up for. It may also run other threads first, which is no pause. */
static void make_pauses(struct runtime_thread *thread)
{
	enum { AHEAD_MOST_NS = 200 * 1000 };
	uint64_t delays = delays_now();
	follow(thread, delays);
	uint64_t owed = runtime_less(delays & CHANNEL_DELAY_MASK, thread->paid_ns);
	if (owed == 0 || is_over())
		return;
	thread->paid_ns += owed;
	if (thread->ahead_ns >= owed) {
		thread->ahead_ns -= owed;
		return;
	}
	owed -= thread->ahead_ns;
	uint64_t late = runtime_less(sleep_for(owed), owed);
	thread->ahead_ns = late < AHEAD_MOST_NS ? late : AHEAD_MOST_NS;
}

void causal_make_pauses(void)
{
	struct runtime_thread *thread = runtime_enter();
	if (!thread)
		return;
	make_pauses(thread);
	runtime_leave(thread);
}

/* --- waits --- */

void causal_waits(uint64_t frame)
{
	causal_make_pauses();
	if (runtime_thread)
		runtime_thread->wait_frame = frame;
}

void causal_woken(struct runtime_thread *thread)
{
	if (!thread || !runtime.has_experiments)
		return;
	thread->wait_frame = 0;
	cancel_pauses(thread);
}

void causal_timed_out(struct runtime_thread *thread)
{
	if (thread)
		thread->wait_frame = 0;
}

/* --- ticks --- */

/* Raises the delays to what this thread has caused, unless the turn has ended. */
static void publish(const struct runtime_thread *thread)
{
	uint64_t delays = delays_now();
	uint64_t wanted = thread->causal_turn << CHANNEL_DELAY_BITS | (thread->paid_ns & CHANNEL_DELAY_MASK);
	while (delays >> CHANNEL_DELAY_BITS == thread->causal_turn && delays < wanted &&
	       !__atomic_compare_exchange_n(&experiment()->delays, &delays, wanted, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
}

/* Adds the delay of a thread that has run in the path. */
static void add_delay(struct runtime_thread *thread, uint64_t ran_ns, const void *context)
{
	static const uint64_t percents = 100;
	const struct channel_experiment *now = experiment();
	uint64_t delays = delays_now();
	uint32_t frames = __atomic_load_n(&now->frames, __ATOMIC_ACQUIRE);
	if (frames == 0 || frames > CHANNEL_PATH_FRAMES || now->percent == 0 || now->percent > percents ||
	    now->program != runtime.process->program)
		return;
	/* A tick without a hit has not walked yet. */
	if (thread->tick_samples != thread->samples && !runtime_walk_interrupted(thread, context))
		return;
	if (!runtime_can_repeat(thread) || !runtime_walk_is_below(thread, now->path, frames))
		return;
	follow(thread, delays);
	thread->paid_ns += ran_ns * now->percent / percents;
	publish(thread);
}

void causal_tick(struct runtime_thread *thread, uint64_t ran_ns, bool asleep, const void *context)
{
	if (is_over())
		return;
	follow(thread, delays_now());
	if (ran_ns > 0)
		add_delay(thread, ran_ns, context);
	bool waits = thread->wait_frame && !runtime_is_gone(thread->wait_frame, machine_stack_pointer_of(context));
	if (!asleep && !waits && !thread->waiting)
		make_pauses(thread);
}
