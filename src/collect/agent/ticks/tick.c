/*
 * Each thread's timer, whose signals are ticks. Time on CLOCK_MONOTONIC is divided into parts of tick_ns. Each part has
 * one target, at a position that is drawn at random (stratified sampling), whatever the thread does at that time. At
 * the target, the timer expires. Then the thread is in one of these states:
 *
 *   running   all CPU time since the last tick of this kind is charged to the present position: each moment at which
 *             the thread ran is sampled with the same probability
 *   preempted (the tick is late: the thread gets it when it returns to the CPU) the CPU time waits for a later tick.
 *             The place where a thread returns to the CPU is not a random one: it may be the same every time
 *   asleep    (the thread waits in a system call) the time off the CPU since the last tick of this kind is charged to
 *             the position where it waits; the CPU time waits for a later tick
 *   stopped   (by ^Z, or in a wait that no signal ends: the tick comes afterwards) the time for which the tick was
 *             pending is charged to the present position
 *   shielded  (waits.h: no tick comes) the wait is counted when it ends, by its clocks, like any counted call: with
 *             interval clocks of its own, so that each of its nanoseconds is equally likely to be sampled
 *
 * Targets in the thread's CPU time would need fewer ticks, but would sample a thread that pauses in step with its
 * work at the wrong places: the thread often pauses before a target, and most often before the same targets.
 *
 * The library that programs are linked with does not interpose calls that wait (waits.h), so its timers must not
 * interrupt them. Therefore they are timers of the thread's CPU time, which stands still during a wait, and their
 * targets are positions in it. The kernel checks such a timer only 100 to 1000 times a second.
 *
 * A thread that waits (`is_idle`) is not interrupted: its timer is replaced by one of its CPU time, which does not
 * wake the thread, and whose ticks come while the thread runs. If waiting is measured, some other ticks continue, at
 * growing distances.
 *
 * Threads that run get as many ticks as there are processors. Those that wait could get any number, so these have
 * a budget: above it, the distances of the ticks of waiting threads are stretched. Each tick charges all
 * time since the last one, so hits keep their weight.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "collect/agent/causal/causal.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/signals/signals.h"
#include "collect/agent/ticks/tick.h"
#include "processor/agent/machine.h"

enum { IDLE_MAX_NS = 16 * 1000 * 1000, SOON_NS = 20 * 1000, LEAST_DELAY_NS = 100 * 1000, FORGOTTEN_TICKS = 64 };

/* --- the timers --- */

static bool measures_cpu(void)
{
	return runtime.requests_of[COUNTER_CPU] || runtime.requests_of[COUNTER_USER] ||
	       runtime.requests_of[COUNTER_SYS];
}

/* The clock that targets refer to. */
static uint64_t clock_of_targets(uint64_t now, uint64_t cpu)
{
	return tick_waits_are_shielded ? now : cpu;
}

/* Draws targets until one is later than `clock`; those before it are dropped. */
static void draw_target(struct runtime_thread *thread, uint64_t clock)
{
	uint64_t tick = runtime.channel->tick_ns;
	if (clock - thread->interval_start_ns > FORGOTTEN_TICKS * tick)
		thread->interval_start_ns = clock - (tick_random(thread) >> 1) % tick;
	do {
		thread->interval_start_ns += tick;
		thread->target_ns = thread->interval_start_ns + tick_random_below(tick);
	} while (thread->target_ns <= clock);
}

/* Sets the timer for the next target that is later than `clock` + `least_ns`. */
static void set_next_tick(struct runtime_thread *thread, uint64_t clock, uint64_t least_ns)
{
	if (thread->target_ns <= clock + least_ns)
		draw_target(thread, clock + least_ns);
	if (tick_waits_are_shielded)
		tick_set_timer(thread->timer, TIMER_ABSTIME, thread->target_ns);
	else
		tick_set_timer(thread->timer, 0, thread->target_ns - clock);
}

/* `asleep`: the last sample is of the position where the thread waits. */
static void set_idle(struct runtime_thread *thread, uint64_t now, bool asleep)
{
	if (!thread->is_idle)
		thread->idle_wait_ns = runtime.channel->tick_ns;
	thread->is_idle = true;
	thread->idle_samples = asleep ? thread->samples : UINT64_MAX;
	tick_set_timer(thread->cpu_timer, 0, 1);
	if (!tick_measures_waits())
		return;
	thread->idle_wait_ns = thread->idle_wait_ns * 2 < IDLE_MAX_NS ? thread->idle_wait_ns * 2 : IDLE_MAX_NS;
	uint64_t wait_ns = tick_stretched(thread->idle_wait_ns);
	thread->target_ns = now + wait_ns / 2 + tick_random_below(wait_ns);
	tick_set_timer(thread->timer, TIMER_ABSTIME, thread->target_ns);
}

/* Returns true if a handler on a small alternate stack has delayed the tick. */
static bool is_late(const struct runtime_thread *thread, uint64_t cpu)
{
	return signals_has_small_stacks() && runtime_less(cpu, thread->cpu_seen_ns) > 2 * runtime.channel->tick_ns;
}

static void stop_ticking(struct runtime_thread *thread)
{
	tick_set_timer(thread->timer, 0, 0);
	if (thread->has_cpu_timer)
		tick_set_timer(thread->cpu_timer, 0, 0);
}

/* Sets the next tick. The program gets as much time for itself as the tick that began at `now`, with the CPU time
 * `cpu`, has used: if walks take longer than tick_ns, it would otherwise spend all its time in ticks. Time that the
 * kernel gave to other threads meanwhile does not count. A thread that `waits` most of the time follows the process's
 * budget. */
static void schedule_next_tick(struct runtime_thread *thread, uint64_t now, uint64_t cpu, bool waits)
{
	uint64_t end = runtime_now_ns(CLOCK_MONOTONIC), tick_ns = runtime.channel->tick_ns;
	uint64_t used = runtime_less(end, now), least = 0;
	uint64_t distance = waits ? tick_stretched(tick_ns) : tick_ns;
	if (distance > tick_ns)
		least = distance / 2 + tick_random_below(distance);
	if (used > SOON_NS)
		used = runtime_less(runtime_now_ns(CLOCK_THREAD_CPUTIME_ID), cpu);
	if (used > SOON_NS && used > least)
		least = used;
	set_next_tick(thread, clock_of_targets(end, cpu + used), least);
}

/* Follows the least delay from the target to the handler that this thread has seen, in ns, which differs tenfold among
 * machines. It grows slowly, so that one short delay does not count for ever. */
static void note_delay(struct runtime_thread *thread, uint64_t delay)
{
	enum { GROWTH = 64 };
	uint64_t least = thread->least_delay_ns;
	thread->least_delay_ns = delay < least ? delay : least + least / GROWTH;
}

/* Returns true if the thread was on a CPU when its timer expired: the signal came without an
 * unusual delay, or the delay was not the time off the CPU since the last tick, `off_ns`, but a
 * system call. At the end of a system call that has waited, less delay is usual: the wait may
 * have ended just after the target. A tick before the target is of tick_send. */
static bool was_running(struct runtime_thread *thread, uint64_t now, uint64_t off_ns, bool after_wait)
{
	if (now < thread->target_ns)
		return false;
	uint64_t delay = now - thread->target_ns, least = thread->least_delay_ns;
	if (!after_wait)
		note_delay(thread, delay);
	return delay <= (after_wait ? least : 2 * least + TICK_SHORT_NS) || off_ns < delay / 2;
}

/* Returns the part of the time off the CPU, `off_ns`, for which a tick was pending, if that is
 * long; else 0. A thread that waits in a system call gets its tick at once. So this one was
 * stopped (^Z), or was in a wait that no signal ends, and is still where it was then. */
static uint64_t time_stopped(const struct runtime_thread *thread, uint64_t now, uint64_t off_ns)
{
	static const uint64_t least_ns = 20 * 1000 * 1000;
	uint64_t delay = tick_waits_are_shielded ? runtime_less(now, thread->target_ns) : 0;
	delay = delay < off_ns ? delay : off_ns;
	return delay > least_ns && delay > 2 * runtime.channel->tick_ns ? delay : 0;
}

/* Charges time off the CPU of a thread that does not wait now. */
static void charge_absence(struct runtime_thread *thread, uint64_t now, uint64_t off_ns, bool waited,
			   const void *context)
{
	uint64_t stopped = time_stopped(thread, now, off_ns);
	if (stopped)
		tick_charge_absence(thread, stopped, false, context);
	tick_charge_absence(thread, off_ns - stopped, waited, context);
}

/* `by_cpu`: the timer of the thread's CPU time has sent the tick, so the thread was running. */
static void tick(struct runtime_thread *thread, const void *context, bool by_cpu)
{
	enum { IDLE_BELOW = 4 };
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t elapsed = runtime_less(now, thread->real_ns), ran = runtime_less(cpu, thread->cpu_seen_ns);
	uint64_t off = runtime_less(elapsed, ran), charged = thread->cpu_ns;
	enum machine_state state = machine_state_of(context);
	bool is_asked = state != MACHINE_RUNS || (off > TICK_SHORT_NS && (by_cpu || tick_measures_waits()));
	bool waited = is_asked && tick_has_waited(thread), waits = ran * IDLE_BELOW < elapsed;
	/* A signal also comes behind a system call if the thread lost the CPU on the way back. */
	bool asleep = state == MACHINE_WAITED && !by_cpu && waited;
	bool rests = asleep ? waits || thread->is_idle : waits && (by_cpu ? waited : thread->is_idle);
	thread->tick_samples = UINT64_MAX;
	if (asleep || waits)
		tick_spend(now);
	bool late = is_late(thread, cpu);
	if (late)
		__atomic_add_fetch(&runtime.process->late_ticks, 1, __ATOMIC_RELAXED);
	if (asleep) {
		thread->blocked_ns += off;
		tick_charge_blocked(thread, context);
	} else {
		if (tick_measures_waits())
			charge_absence(thread, now, off, waited, context);
		if (by_cpu || late || was_running(thread, now, off, state != MACHINE_RUNS && waited))
			tick_charge_running(thread, cpu, state != MACHINE_RUNS, context);
	}
	thread->real_ns = now;
	thread->cpu_seen_ns = cpu;
	if (runtime.has_experiments)
		causal_tick(thread, runtime_less(thread->cpu_ns, charged), asleep, context);
	if (rests && thread->has_cpu_timer) {
		set_idle(thread, now, asleep);
	} else {
		thread->is_idle = false;
		schedule_next_tick(thread, now, cpu, waits);
	}
}

/* --- waits without ticks --- */

static bool measures_time(void)
{
	return measures_cpu() || tick_measures_waits();
}

/* Records where the thread waits, for the case that the program ends during the wait: the monitor then charges it.
 * At most once in tick_ns, so not at each short wait. */
static void note_wait(struct runtime_thread *thread, uint64_t now)
{
	uint32_t requests = runtime.requests_of[COUNTER_REAL] | runtime.requests_of[COUNTER_BLOCKED];
	if (!requests || now - thread->noted_ns < runtime.channel->tick_ns || !runtime_set_busy(thread, RUNTIME_HERE))
		return;
	thread->noted_ns = now;
	runtime_sample_here(thread, (uint32_t)__builtin_ctz(requests), 0, 0, thread->wait_function);
	runtime_leave(thread);
}

void tick_wait_begins(struct runtime_thread *thread, uint64_t function)
{
	if (!runtime.on || !thread->has_timer || !measures_time())
		return;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	thread->wait_function = function;
	note_wait(thread, now);
	thread->wait_cpu_ns = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
	thread->wait_ns = now;
	__atomic_store_n(&thread->shared->waits_since_ns, runtime_stamp_of(now), __ATOMIC_RELEASE);
}

void tick_wait_clear(struct runtime_thread *thread)
{
	thread->wait_ns = 0;
	__atomic_store_n(&thread->shared->waits_since_ns, 0, __ATOMIC_RELEASE);
}

void tick_wait_ends(struct runtime_thread *thread)
{
	uint64_t began_ns = thread->wait_ns;
	if (!began_ns || !runtime_set_busy(thread, RUNTIME_HERE))
		return;
	int error = errno;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC), cpu = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t elapsed = runtime_less(now, began_ns), ran = runtime_less(cpu, thread->wait_cpu_ns);
	tick_wait_clear(thread);
	runtime_count(thread, COUNTER_CPU, ran, thread->wait_function);
	runtime_count(thread, COUNTER_SYS, ran, thread->wait_function);
	runtime_count(thread, COUNTER_REAL, elapsed, thread->wait_function);
	runtime_count(thread, COUNTER_BLOCKED, runtime_less(elapsed, ran), thread->wait_function);
	thread->charged_waits += runtime_less(elapsed, ran) > 0;
	thread->cpu_ns += ran;
	thread->cpu_seen_ns += ran;
	thread->real_ns += elapsed;
	runtime_leave(thread);
	errno = error;
}

/* --- the handler --- */

/* Drops a tick that must not be counted now, and sets the next one. Its target is random like any other: a target at a
 * fixed distance from the end of a wait would never sample the work of a thread that waits more often than that. */
static void tick_later(struct runtime_thread *thread)
{
	set_next_tick(thread, clock_of_targets(runtime_now_ns(CLOCK_MONOTONIC), thread->target_ns), 0);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int error = errno;
	struct runtime_thread *thread = runtime_thread;
	if (thread && tick_is_ours(info))
		thread->ticks++;
	if (!tick_is_ours(info)) {
		signals_chain(number, info, context);
	} else if (thread && (thread->waiting ||
			      (thread->busy && runtime_is_at_work(thread, machine_stack_pointer_of(context))))) {
		if (runtime.on && thread->has_timer)
			tick_later(thread);
	} else if (thread && __atomic_load_n(&runtime.channel->is_over, __ATOMIC_RELAXED)) {
		runtime.on = false;
		if (thread->has_timer)
			stop_ticking(thread);
	} else if (thread) {
		thread->busy = RUNTIME_HELD;
		if (thread->fp)
			fp_tick(thread, context);
		if (runtime.on && thread->has_timer)
			tick(thread, context, tick_is_by_cpu(info));
		if (runtime.alone)
			hooks_total(thread);
		thread->busy = 0;
	}
	errno = error;
}

bool tick_has_handler;

int tick_install(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	sigfillset(&action.sa_mask);
	int result = signals_own(runtime.signal, &action);
	tick_has_handler = result == 0;
	return result;
}

/* Returns the CPU time of any thread of this process. The kernel's id of a thread's clock encodes its number. */
static uint64_t cpu_clock_of(const struct runtime_thread *thread)
{
	enum { THREAD_SCHED_CLOCK = 6, SHIFT = 3 };
	return runtime_now_ns((clockid_t)((~thread->tid << SHIFT) | THREAD_SCHED_CLOCK));
}

void tick_start(struct runtime_thread *thread)
{
	if (!thread->has_timer)
		return;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	thread->real_ns = now;
	thread->cpu_ns = thread->cpu_seen_ns = cpu_clock_of(thread);
	thread->blocked_ns = 0;
	thread->is_idle = false;
	thread->least_delay_ns = LEAST_DELAY_NS;
	thread->interval_start_ns = clock_of_targets(now, thread->cpu_ns);
	thread->target_ns = thread->interval_start_ns + 1 + (thread->random >> 1) % runtime.channel->tick_ns;
	for (uint32_t i = 0; i < runtime.channel->request_count; i++)
		if (counter_needs_ticks(runtime.channel->requests[i].counter))
			runtime_set_mark(thread, i);
	if (thread->wait_ns) { /* the wait counts from now on */
		thread->wait_ns = now;
		thread->wait_cpu_ns = thread->cpu_ns;
	}
	set_next_tick(thread, thread->interval_start_ns, 0);
}

/* Adds the use since the last tick to the totals, but to no path. (The first tick of a thread, or after a start,
 * completes an interval whenever it comes, which compensates for that.) */
static void count_rest(struct runtime_thread *thread)
{
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu = cpu_clock_of(thread);
	uint64_t elapsed = runtime_less(now, thread->real_ns), used = runtime_less(cpu, thread->cpu_ns);
	uint64_t blocked = thread->blocked_ns + runtime_less(elapsed, runtime_less(cpu, thread->cpu_seen_ns));
	for (uint32_t i = 0; i < runtime.channel->request_count; i++) {
		uint8_t counter = runtime.channel->requests[i].counter;
		uint64_t rest = counter == COUNTER_CPU       ? used
				: counter == COUNTER_REAL    ? used + blocked
				: counter == COUNTER_BLOCKED ? blocked
							     : 0;
		thread->shared->clocks[i].total += rest;
	}
	thread->real_ns = now;
	thread->cpu_ns = thread->cpu_seen_ns = cpu;
	thread->blocked_ns = 0;
}

void tick_count_rest(struct runtime_thread *thread)
{
	if (!runtime_set_busy(thread, RUNTIME_HERE))
		return;
	if (runtime.on && thread->has_timer)
		count_rest(thread);
	hooks_total(thread);
	runtime_leave(thread);
}

void tick_stop(struct runtime_thread *thread)
{
	if (!thread->has_timer)
		return;
	count_rest(thread);
	tick_wait_clear(thread);
	stop_ticking(thread);
}

void tick_pause(struct runtime_thread *thread)
{
	if (thread->has_timer)
		stop_ticking(thread);
}

void tick_resume(struct runtime_thread *thread)
{
	if (runtime.on)
		tick_later(thread);
}

void tick_finish(struct runtime_thread *thread)
{
	if (thread->has_timer && runtime.on)
		count_rest(thread);
	tick_delete(thread);
}
