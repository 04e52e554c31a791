/*
 * The program's own resources (cpprof_resource, cpprof_tick). The requests are fixed from the start, so there is one
 * entry for each request, at the index of the first request that names the resource, and one more entry for all
 * resources that no request names. Nothing is allocated or locked.
 */
#include <cpprof/runtime.h>

#include <string.h>

#include "collect/agent/core/interface.h"
#include "collect/agent/hooks/hooks.h"

enum reported { REPORTED_NAME = 1, REPORTED_UNIT = 2 };

struct own {
	cpprof_counter counter; /* must be first: the program holds a pointer to it */
	uint32_t requests;      /* the requests that count it: bit n is request n; 0: not declared */
	uint32_t reported;      /* to the monitor: enum reported, or-ed */
	uint64_t kept;          /* gticks that could not be counted yet: the next tick adds them */
};

static struct own owns[SAMPLE_REQUESTS];
static struct own unmeasured;

/* Several threads may call cpprof_start, cpprof_stop and cpprof_resource at the same time: the last one that writes
 * here has read the last value of `on`. */
static void match(struct own *own)
{
	bool on;
	do {
		on = __atomic_load_n(&runtime.on, __ATOMIC_SEQ_CST);
		uint32_t is_measured = on && __atomic_load_n(&own->requests, __ATOMIC_SEQ_CST);
		__atomic_store_n(&own->counter.is_measured, is_measured, __ATOMIC_SEQ_CST);
	} while (on != __atomic_load_n(&runtime.on, __ATOMIC_SEQ_CST));
}

void own_match(void)
{
	for (size_t i = 0; i < SAMPLE_REQUESTS; i++)
		if (__atomic_load_n(&owns[i].requests, __ATOMIC_SEQ_CST))
			match(&owns[i]);
}

/* Returns the requests for the resource of this name, as bits. */
static uint32_t requests_named(const char *name)
{
	uint32_t requests = 0;
	for (uint32_t left = runtime.requests_of[COUNTER_OWN]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		if (strncmp(runtime.channel->requests[request].name, name, CHANNEL_NAME_BYTES) == 0)
			requests |= 1U << request;
	}
	return requests;
}

/* Reports to the monitor, once each, that the requests' resource was declared, and the unit of its gticks. */
static void report_unit(struct own *own, const char *unit)
{
	size_t bytes = unit ? strnlen(unit, CHANNEL_TEXT_BYTES) : 0;
	uint32_t news = bytes > 0 ? REPORTED_NAME | REPORTED_UNIT : REPORTED_NAME;
	if (!(news & ~__atomic_load_n(&own->reported, __ATOMIC_RELAXED)))
		return;
	struct runtime_thread *thread = interface_enter();
	if (!thread)
		return;
	if (news & ~__atomic_fetch_or(&own->reported, news, __ATOMIC_RELAXED))
		for (uint32_t left = own->requests; left; left &= left - 1) {
			hooks_unit_declared((uint32_t)__builtin_ctz(left), unit, bytes);
			runtime_write_event(thread, CHANNEL_RESOURCE, (uint32_t)__builtin_ctz(left), 0, unit, bytes);
		}
	runtime_leave(thread);
}

static uint32_t hash_of(const char *name, size_t bytes)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619U;
	return hash ? hash : 1;
}

/* Reports the name of a resource that was not requested, once while there is room for its hash. */
static void report_other(const char *name)
{
	enum { REPORTED_MAX = 16 };
	static uint32_t reported[REPORTED_MAX];
	size_t bytes = strnlen(name, CHANNEL_NAME_BYTES);
	uint32_t hash = hash_of(name, bytes);
	for (size_t i = 0; i < REPORTED_MAX; i++) {
		uint32_t other = 0;
		if (__atomic_compare_exchange_n(&reported[i], &other, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
		if (other == hash || i + 1 == REPORTED_MAX)
			return;
	}
	struct runtime_thread *thread = interface_enter();
	if (!thread)
		return;
	runtime_write_event(thread, CHANNEL_DECLARED, 0, 0, name, bytes);
	runtime_leave(thread);
}

static cpprof_counter *counter_of(const char *name, const char *unit)
{
	cpprof_runtime_begin();
	uint32_t requests = runtime.channel && name ? requests_named(name) : 0;
	if (!requests) {
		if (name && runtime.channel && runtime.requests_of[COUNTER_OWN])
			report_other(name);
		return &unmeasured.counter;
	}
	struct own *own = &owns[__builtin_ctz(requests)];
	__atomic_store_n(&own->requests, requests, __ATOMIC_SEQ_CST);
	report_unit(own, unit);
	match(own);
	return &own->counter;
}

cpprof_counter *cpprof_resource(const char *name, const char *unit)
{
	return counter_of(name, unit);
}

/* runtime_advance without a crossed boundary, the case of nearly all ticks. Returns false if a boundary or the end
 * of the interval is reached; nothing has changed then. */
static inline bool advance_below(const struct runtime_thread *thread, uint32_t request, uint64_t amount)
{
	struct interval_clock *clock = &thread->shared->clocks[request];
	uint64_t used = clock->used + amount;
	if (used >= runtime.channel->requests[request].interval || (clock->used <= clock->mark && clock->mark < used))
		return false;
	clock->used = used;
	clock->total += amount;
	return true;
}

/* Counts for the requests whose boundary or end of interval is reached. Ends the work that cpprof_tick_measured
 * began. */
static __attribute__((noinline)) void advance_beyond(struct runtime_thread *thread, uint32_t requests, uint64_t amount)
{
	for (; requests; requests &= requests - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(requests);
		uint64_t hits = runtime_advance(thread, request, amount);
		if (hits)
			runtime_sample_here(thread, request, hits, amount, 0);
	}
	runtime_leave(thread);
}

/* Called if the thread is not registered yet, or if a handler that has interrupted the library ticks. In the second
 * case the next tick counts the amount, which may be another thread's. */
static __attribute__((noinline)) void tick_otherwise(struct own *own, uint64_t amount)
{
	bool was_known = runtime_thread != NULL;
	struct runtime_thread *thread = interface_thread();
	if (thread && runtime.on && was_known)
		__atomic_fetch_add(&own->kept, amount, __ATOMIC_RELAXED);
	else if (thread && runtime.on)
		cpprof_tick_measured(&own->counter, amount);
}

/* Calls no function in the normal case, so that it need not save registers. */
void cpprof_tick_measured(cpprof_counter *counter, uint64_t amount)
{
	struct own *own = (struct own *)counter;
	struct runtime_thread *thread = runtime_enter();
	if (__builtin_expect(!thread, 0)) {
		tick_otherwise(own, amount);
		return;
	}
	if (__builtin_expect(__atomic_load_n(&own->kept, __ATOMIC_RELAXED) != 0, 0))
		amount += __atomic_exchange_n(&own->kept, 0, __ATOMIC_RELAXED);
	uint32_t at_boundary = 0;
	for (uint32_t left = own->requests; left; left &= left - 1)
		if (!advance_below(thread, (uint32_t)__builtin_ctz(left), amount))
			at_boundary |= left & -left;
	if (__builtin_expect(at_boundary != 0, 0))
		advance_beyond(thread, at_boundary, amount);
	else
		runtime_leave(thread);
}

/* Called by cpprof/progress.h, whose programs look it up by its name. *point: NULL at first, then the point's counter. */
__attribute__((visibility("default"))) void cpprof_progress_visit(void **point, const char *name);

void cpprof_progress_visit(void **point, const char *name)
{
	cpprof_counter *counter = __atomic_load_n(point, __ATOMIC_ACQUIRE);
	if (!counter) {
		counter = counter_of(name, "visit");
		__atomic_store_n(point, (void *)counter, __ATOMIC_RELEASE);
	}
	cpprof_tick(counter, 1);
}
