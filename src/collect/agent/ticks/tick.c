/*
 * Each thread's timer, whose signals are ticks. The thread's CPU time is divided into parts of tick_ns (its elapsed
 * time, if no CPU time is measured). Each part has one target, at a position that is drawn at random (stratified
 * sampling). The timer is set to the time at which the thread reaches the target if it runs without a pause. If the
 * thread pauses, the tick comes too early and sets the timer again.
 *
 *   reached   all CPU time since the last such tick is charged to the present position: each moment at which the
 *             thread ran is equally likely to be the one that is sampled
 *   asleep    (too early, and the thread waits in a system call) the time off the CPU since the last such tick is
 *             charged to the position where it waits
 *   shielded  (waits.h: no tick comes) the wait is counted when it ends, by its clocks, like any counted call
 *
 * The library that programs are linked with does not interpose calls that wait (waits.h), so its timers must not
 * interrupt them. Therefore they are timers of the thread's CPU time, which stands still during a wait. The kernel
 * checks such a timer only 100 to 1000 times a second.
 *
 * A thread that waits (`is_idle`) is not interrupted: its timer is replaced by one of its CPU time, which does not
 * wake the thread, and which starts the ticks again when the thread runs. If waiting is measured, some ticks
 * continue, at growing distances.
 *
 * Threads that run get as many ticks as there are processors. Those that wait could get any number, so a process has
 * a budget of ticks: above it, the distances of the ticks of waiting threads are stretched. Each tick charges all
 * time since the last one, so hits keep their weight.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/signals/signals.h"
#include "collect/agent/ticks/tick.h"
#include "processor/agent/machine.h"

#include "collect/shared/interval_timer.h"

enum { IDLE_MAX_NS = 16 * 1000 * 1000, SOON_NS = 20 * 1000, SLACK_NS = 10 * 1000, FORGOTTEN_TICKS = 64 };

/* --- random numbers --- */

static uint64_t next_random(struct runtime_thread *thread)
{
	uint64_t x = thread->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return thread->random = x;
}

static uint64_t random_below(uint64_t limit)
{
	uint64_t random = next_random(runtime_thread) >> 32;
	return limit >> 32 ? (limit >> 16) * random >> 16 : limit * random >> 32;
}

uint64_t runtime_advance(struct runtime_thread *thread, uint32_t request, uint64_t amount)
{
	return interval_clock_advance(&thread->shared->clocks[request], runtime.channel->requests[request].interval,
				      amount);
}

void runtime_set_mark(struct runtime_thread *thread, uint32_t request)
{
	const struct channel_request *asked = &runtime.channel->requests[request];
	struct interval_clock *clock = &thread->shared->clocks[request];
	uint64_t random = next_random(thread) >> 1;
	uint64_t tick = runtime.channel->tick_ns;
	if (!counter_needs_ticks(asked->counter))
		clock->mark = asked->interval ? random % asked->interval : 0;
	else if (tick && asked->interval) /* the first interval ends at a randomly drawn one of the first ticks */
		clock->used = asked->interval - 1 - random % ((asked->interval + tick - 1) / tick) * tick;
}

/* --- charging --- */

/* Charges time to a request. Returns the number of boundaries passed. Ticks come at random times already, so a
 * boundary is where an interval is full. */
static uint64_t charge(struct runtime_thread *thread, uint32_t request, uint64_t ns)
{
	struct interval_clock *clock = &thread->shared->clocks[request];
	uint64_t interval = runtime.channel->requests[request].interval;
	clock->total += ns;
	clock->used += ns;
	uint64_t hits = interval ? clock->used / interval : 0;
	clock->used -= hits * interval;
	return hits;
}

static void charge_here(struct runtime_thread *thread, enum counter counter, uint64_t ns, const void *context)
{
	if (ns == 0)
		return;
	for (uint32_t left = runtime.requests_of[counter]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t hits = charge(thread, request, ns);
		if (hits == 0)
			continue;
		if (thread->samples == thread->tick_samples && runtime_can_repeat(thread))
			runtime_sample_again(thread, request, hits, ns);
		else
			runtime_sample_interrupted(thread, request, hits, ns, context);
		thread->tick_samples = thread->samples;
	}
}

/* Charges time to the position where the thread waited when the last tick came. */
static void charge_wait(struct runtime_thread *thread, enum counter counter, uint64_t ns)
{
	for (uint32_t left = runtime.requests_of[counter]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t hits = charge(thread, request, ns);
		if (hits)
			runtime_sample_again(thread, request, hits, ns);
	}
}

static bool measures_waits(void)
{
	return runtime.requests_of[COUNTER_REAL] || runtime.requests_of[COUNTER_BLOCKED];
}

/* Returns true if the last sample is of the position where the thread waited when the last tick came. */
static bool repeats_wait(const struct runtime_thread *thread)
{
	return thread->is_idle && thread->idle_samples == thread->samples && runtime_can_repeat(thread);
}

/* Charges `blocked_ns`: the time off the CPU that is not charged yet. */
static void charge_blocked(struct runtime_thread *thread, const void *context)
{
	uint64_t blocked = thread->blocked_ns;
	thread->blocked_ns = 0;
	if (repeats_wait(thread)) {
		charge_wait(thread, COUNTER_REAL, blocked);
		charge_wait(thread, COUNTER_BLOCKED, blocked);
	} else {
		charge_here(thread, COUNTER_REAL, blocked, context);
		charge_here(thread, COUNTER_BLOCKED, blocked, context);
	}
}

enum { SHORT_NS = 50 * 1000 }; /* time off the CPU that is not worth a system call */

/* Returns true if the thread has waited since the last call, rather than only lost the CPU to another one: the kernel's
 * account has more voluntary switches than the waits that were charged already. */
static bool has_waited(struct runtime_thread *thread)
{
	struct rusage used;
	if (machine_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&used, 0, 0, 0, 0) < 0)
		return true;
	uint64_t waits = (uint64_t)used.ru_nvcsw - thread->switches;
	uint64_t charged = thread->charged_waits;
	thread->switches = (uint64_t)used.ru_nvcsw;
	thread->charged_waits = 0;
	return waits > charged;
}

/* Charges time off the CPU since the last tick, in ns: that of a preemption here, where the thread has returned to the
 * CPU; other time when the next tick finds the thread waiting, or to the wait that the last tick found. */
static void charge_absence(struct runtime_thread *thread, uint64_t ns, const void *context)
{
	if (ns > SHORT_NS && !has_waited(thread)) {
		charge_here(thread, COUNTER_REAL, ns, context);
		charge_here(thread, COUNTER_BLOCKED, ns, context);
		return;
	}
	thread->blocked_ns += ns;
	if (repeats_wait(thread))
		charge_blocked(thread, context);
}

/* `used` is the CPU time that this tick charges, `ran` the CPU time since the last tick, both in ns. */
static void charge_running(struct runtime_thread *thread, uint64_t used, uint64_t ran, bool in_syscall,
			   const void *context)
{
	charge_here(thread, COUNTER_CPU, used, context);
	charge_here(thread, in_syscall ? COUNTER_SYS : COUNTER_USER, used, context);
	charge_here(thread, COUNTER_REAL, ran, context);
}

/* --- the timers --- */

static bool measures_cpu(void)
{
	return runtime.requests_of[COUNTER_CPU] || runtime.requests_of[COUNTER_USER] ||
	       runtime.requests_of[COUNTER_SYS];
}

/* Draws targets until one is later than `clock`; those before it are dropped. */
static void draw_target(struct runtime_thread *thread, uint64_t clock)
{
	uint64_t tick = runtime.channel->tick_ns;
	if (clock - thread->interval_start_ns > FORGOTTEN_TICKS * tick)
		thread->interval_start_ns = clock - (next_random(thread) >> 1) % tick;
	do {
		thread->interval_start_ns += tick;
		thread->target_ns = thread->interval_start_ns + random_below(tick);
	} while (thread->target_ns <= clock);
}

/* Sets the timer for the next target, at least `least_ns` from `now`. `clock` is the present time of the clock that
 * targets refer to. */
static void set_next_tick(struct runtime_thread *thread, uint64_t now, uint64_t clock, uint64_t least_ns)
{
	uint64_t left = runtime_less(thread->target_ns, clock);
	left = (left > least_ns ? left : least_ns) + 1;
	if (tick_waits_are_shielded)
		tick_set_timer(thread->timer, TIMER_ABSTIME, now + left);
	else
		tick_set_timer(thread->timer, 0, left);
}

static void set_idle(struct runtime_thread *thread, uint64_t now)
{
	if (!thread->is_idle)
		thread->idle_wait_ns = runtime.channel->tick_ns;
	thread->is_idle = true;
	thread->idle_samples = thread->samples;
	tick_set_timer(thread->cpu_timer, 0, 1);
	if (!measures_waits())
		return;
	thread->idle_wait_ns = thread->idle_wait_ns * 2 < IDLE_MAX_NS ? thread->idle_wait_ns * 2 : IDLE_MAX_NS;
	uint64_t wait_ns = tick_stretched(thread->idle_wait_ns);
	tick_set_timer(thread->timer, TIMER_ABSTIME, now + wait_ns / 2 + random_below(wait_ns));
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
 * kernel gave to other threads meanwhile does not count. After a tick that came too early, the next one comes after at
 * least an eighth of tick_ns. A thread that `waits` most of the time follows the process's budget. */
static void go_on(struct runtime_thread *thread, uint64_t now, uint64_t cpu, bool reached, bool waits)
{
	enum { EARLY_SHARE = 8 };
	uint64_t end = runtime_now_ns(CLOCK_MONOTONIC), tick_ns = runtime.channel->tick_ns;
	uint64_t elapsed = runtime_less(end, now), used = elapsed;
	uint64_t least = reached ? 0 : tick_ns / EARLY_SHARE;
	uint64_t distance = waits ? tick_stretched(tick_ns) : tick_ns;
	if (distance > tick_ns)
		least = distance / 2 + random_below(distance);
	if (elapsed > SOON_NS)
		used = runtime_less(runtime_now_ns(CLOCK_THREAD_CPUTIME_ID), cpu);
	if (used > SOON_NS && used > least)
		least = used;
	set_next_tick(thread, end, measures_cpu() ? cpu + used : end, least);
}

/* `by_cpu`: the timer of the thread's CPU time has sent the tick, so the thread was running. */
static void tick(struct runtime_thread *thread, const void *context, bool by_cpu)
{
	enum { IDLE_BELOW = 4 };
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
	tick_spend(now);
	uint64_t elapsed = runtime_less(now, thread->real_ns), ran = runtime_less(cpu, thread->cpu_seen_ns);
	uint64_t clock = measures_cpu() ? cpu : now;
	enum machine_state state = machine_state_of(context);
	bool reached = clock + SLACK_NS >= thread->target_ns;
	/* The signal also comes behind a system call if the thread lost the CPU on the way back. */
	bool asleep = state == MACHINE_WAITED && !by_cpu && !(reached && measures_cpu()) && has_waited(thread);
	uint64_t used = reached && !asleep ? runtime_less(cpu, thread->cpu_ns) : 0;
	thread->tick_samples = UINT64_MAX;
	if (reached && is_late(thread, cpu))
		__atomic_add_fetch(&runtime.process->late_ticks, 1, __ATOMIC_RELAXED);
	if (asleep) {
		thread->blocked_ns += runtime_less(elapsed, ran);
		charge_here(thread, COUNTER_REAL, ran < elapsed ? ran : elapsed, context);
		charge_blocked(thread, context);
	} else {
		if (measures_waits())
			charge_absence(thread, runtime_less(elapsed, ran), context);
		charge_running(thread, used, ran, state != MACHINE_RUNS, context);
	}
	thread->real_ns = now;
	thread->cpu_seen_ns = cpu;
	thread->cpu_ns += used;
	if (reached)
		draw_target(thread, clock);
	bool waits = ran * IDLE_BELOW < elapsed;
	if (asleep && thread->has_cpu_timer && (thread->is_idle || waits)) {
		set_idle(thread, now);
	} else {
		thread->is_idle = false;
		go_on(thread, now, cpu, reached, waits);
	}
}

/* --- waits without ticks --- */

static bool measures_time(void)
{
	return measures_cpu() || measures_waits();
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
	__atomic_store_n(&thread->shared->waits_since_ns, now, __ATOMIC_RELEASE);
}

static void charge_shielded(struct runtime_thread *thread, enum counter counter, uint64_t ns)
{
	for (uint32_t left = runtime.requests_of[counter]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t hits = charge(thread, request, ns);
		if (hits)
			runtime_sample_here(thread, request, hits, ns, thread->wait_function);
	}
}

void tick_wait_forget(struct runtime_thread *thread)
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
	uint64_t clock = measures_cpu() ? cpu : now;
	uint64_t elapsed = runtime_less(now, began_ns), ran = runtime_less(cpu, thread->wait_cpu_ns);
	tick_wait_forget(thread);
	charge_shielded(thread, COUNTER_CPU, ran);
	charge_shielded(thread, COUNTER_SYS, ran);
	charge_shielded(thread, COUNTER_REAL, elapsed);
	charge_shielded(thread, COUNTER_BLOCKED, runtime_less(elapsed, ran));
	thread->charged_waits += runtime_less(elapsed, ran) > 0;
	thread->cpu_ns += ran;
	thread->cpu_seen_ns += ran;
	thread->real_ns += elapsed;
	bool passed = thread->target_ns <= clock;
	if (passed) /* the wait that was just counted contains the target */
		draw_target(thread, clock);
	if (passed || thread->fell_due)
		set_next_tick(thread, now, clock, 0);
	thread->fell_due = false;
	runtime_leave(thread);
	errno = error;
}

/* --- the handler --- */

/* Postpones a tick that must not be counted now. */
static void tick_later(struct runtime_thread *thread)
{
	thread->fell_due = thread->waiting != 0;
	tick_set_timer(thread->timer, 0, runtime.channel->tick_ns);
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

int tick_install(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	sigfillset(&action.sa_mask);
	return signals_own(runtime.signal, &action);
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
	thread->interval_start_ns = measures_cpu() ? thread->cpu_ns : now;
	thread->target_ns = thread->interval_start_ns + 1 + (thread->random >> 1) % runtime.channel->tick_ns;
	for (uint32_t i = 0; i < runtime.channel->request_count; i++)
		if (counter_needs_ticks(runtime.channel->requests[i].counter))
			runtime_set_mark(thread, i);
	if (thread->wait_ns) { /* the wait counts from now on */
		thread->wait_ns = now;
		thread->wait_cpu_ns = thread->cpu_ns;
	}
	set_next_tick(thread, now, thread->interval_start_ns, 0);
}

/* Adds the use since the last tick to the totals, but to no path. (The first tick of a thread, or after a start,
 * completes an interval whenever it comes, which compensates for that.) */
static void count_rest(struct runtime_thread *thread)
{
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu = cpu_clock_of(thread);
	uint64_t elapsed = runtime_less(now, thread->real_ns);
	uint64_t blocked = thread->blocked_ns + runtime_less(elapsed, runtime_less(cpu, thread->cpu_seen_ns));
	for (uint32_t i = 0; i < runtime.channel->request_count; i++) {
		uint8_t counter = runtime.channel->requests[i].counter;
		uint64_t rest = counter == COUNTER_CPU       ? runtime_less(cpu, thread->cpu_ns)
				: counter == COUNTER_REAL    ? elapsed
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
	tick_wait_forget(thread);
	stop_ticking(thread);
}

void tick_pause(struct runtime_thread *thread)
{
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
