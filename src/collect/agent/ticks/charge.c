/* Charges time to requests, and takes a sample where an interval is full: see tick.c. */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/ticks/tick.h"
#include "processor/agent/machine.h"

#include "collect/shared/interval_timer.h"

/* --- random numbers --- */

uint64_t tick_random(struct runtime_thread *thread)
{
	uint64_t x = thread->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return thread->random = x;
}

static uint64_t random_below(uint64_t limit)
{
	uint64_t random = tick_random(runtime_thread) >> 32;
	return limit >> 32 ? (limit >> 16) * random >> 16 : limit * random >> 32;
}

uint64_t tick_random_below(uint64_t limit)
{
	return random_below(limit);
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
	uint64_t tick = runtime.channel->tick_ns;
	clock->mark = asked->interval ? (tick_random(thread) >> 1) % asked->interval : 0;
	if (counter_needs_ticks(asked->counter) && tick && asked->interval) {
		/* the first interval of ticks ends at a randomly drawn one of the first ticks */
		uint64_t ticks = (asked->interval + tick - 1) / tick;
		thread->tick_used[request] = asked->interval - 1 - (tick_random(thread) >> 1) % ticks * tick;
	}
}

/* --- charging --- */

/* Charges time to a request at a tick. Returns the number of boundaries passed. Ticks come at random times already,
 * so a boundary is where an interval is full. Only ticks may end such intervals: the first one ends at the first tick,
 * and a wait without ticks would end it in each new thread. The interval clock is of waits alone (tick_wait_ends). */
static uint64_t charge(struct runtime_thread *thread, uint32_t request, uint64_t ns)
{
	uint64_t interval = runtime.channel->requests[request].interval;
	uint64_t used = thread->tick_used[request] + ns;
	uint64_t hits = interval ? used / interval : 0;
	thread->shared->clocks[request].total += ns;
	thread->tick_used[request] = used - hits * interval;
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

bool tick_measures_waits(void)
{
	return runtime.requests_of[COUNTER_REAL] || runtime.requests_of[COUNTER_BLOCKED];
}

/* Returns true if the last sample is of the position where the thread waited when the last tick came. */
static bool repeats_wait(const struct runtime_thread *thread)
{
	return thread->is_idle && thread->idle_samples == thread->samples && runtime_can_repeat(thread);
}

void tick_charge_blocked(struct runtime_thread *thread, const void *context)
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

bool tick_has_waited(struct runtime_thread *thread)
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

void tick_charge_absence(struct runtime_thread *thread, uint64_t ns, bool waited, const void *context)
{
	if (ns > TICK_SHORT_NS && !waited) {
		charge_here(thread, COUNTER_REAL, ns, context);
		charge_here(thread, COUNTER_BLOCKED, ns, context);
		return;
	}
	thread->blocked_ns += ns;
	if (repeats_wait(thread))
		tick_charge_blocked(thread, context);
}

void tick_charge_running(struct runtime_thread *thread, uint64_t cpu, bool in_syscall, const void *context)
{
	uint64_t used = runtime_less(cpu, thread->cpu_ns);
	thread->cpu_ns += used;
	charge_here(thread, COUNTER_CPU, used, context);
	charge_here(thread, in_syscall ? COUNTER_SYS : COUNTER_USER, used, context);
	charge_here(thread, COUNTER_REAL, used, context);
}
