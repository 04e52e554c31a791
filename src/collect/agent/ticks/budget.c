/* The budget of a process's ticks: see tick.c. */
#include "collect/agent/core/runtime.h"
#include "collect/agent/ticks/tick.h"

static const uint64_t NS_PER_S = 1000000000;

enum {
	STRETCH_UNIT = 16,
	STRETCH_MAX = 4096 * STRETCH_UNIT,
	WINDOW_NS = 20 * 1000 * 1000,
	LEAST_BUDGET = 4000,
	/* Ticks of a second of a processor: each wakes a thread, which takes up to 20 us. */
	MOST_OF_PROCESSOR = 4000
};

/* Ticks of waiting threads since window_ns (CLOCK_MONOTONIC), and the factor of the distances, in 16ths. */
static uint64_t window_ns;
static uint32_t window_ticks, stretch = STRETCH_UNIT;

/* Returns the ticks a second that the waiting threads of a process may have: several for each
 * one of those that run, but at most a part of the processors' time, however short the interval
 * is. */
static uint64_t budget(void)
{
	enum { SHARE = 4 };
	uint64_t of_tick = SHARE * NS_PER_S / runtime.channel->tick_ns;
	uint64_t ticks = tick_processors * (of_tick < MOST_OF_PROCESSOR ? of_tick : MOST_OF_PROCESSOR);
	return ticks > LEAST_BUDGET ? ticks : LEAST_BUDGET;
}

/* Follows the rate of ticks down by halves, so that it does not swing. */
static uint32_t next_stretch(uint64_t ticks, uint64_t elapsed_ns)
{
	enum { NS_PER_US = 1000, US_PER_S = 1000000 };
	uint64_t allowed = budget() * (elapsed_ns / NS_PER_US) / US_PER_S + 1;
	uint64_t wanted = stretch * ticks / allowed;
	wanted = wanted > stretch ? wanted : (stretch + wanted) / 2;
	return (uint32_t)(wanted < STRETCH_UNIT ? STRETCH_UNIT : wanted < STRETCH_MAX ? wanted : STRETCH_MAX);
}

void tick_spend(uint64_t now)
{
	uint32_t ticks = __atomic_add_fetch(&window_ticks, 1, __ATOMIC_RELAXED);
	uint64_t start = __atomic_load_n(&window_ns, __ATOMIC_RELAXED);
	if (now - start < WINDOW_NS ||
	    !__atomic_compare_exchange_n(&window_ns, &start, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&window_ticks, 0, __ATOMIC_RELAXED);
	if (start != 0)
		__atomic_store_n(&stretch, next_stretch(ticks, now - start), __ATOMIC_RELAXED);
}

uint64_t tick_stretched(uint64_t ns)
{
	uint32_t factor = __atomic_load_n(&stretch, __ATOMIC_RELAXED);
	if (factor == STRETCH_UNIT)
		return ns;
	uint64_t longest = __atomic_load_n(&tick_threads, __ATOMIC_RELAXED) * NS_PER_S / budget();
	uint64_t wanted = ns * factor / STRETCH_UNIT;
	wanted = wanted < longest ? wanted : longest;
	uint32_t times = (uint32_t)(wanted / ns);
	if (times > 1 && times > runtime.process->stretch_max)
		runtime.process->stretch_max = times;
	return wanted > ns ? wanted : ns;
}
