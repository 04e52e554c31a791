/*
 * Throttling: a place that is entered often and does little each time turns itself off. While it is asked for, each call of a
 * place is timed (hooks/around.c), and a place is looked at whenever it was called so many times again.
 */
#include "collect/agent/hooks/around.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/probes/registry.h"

static uint64_t calls_wanted; /* 0: no place turns itself off */
static uint64_t ns_wanted;    /* a call takes less than that */

void sites_throttle(uint64_t calls, uint64_t ns)
{
	__atomic_store_n(&ns_wanted, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&calls_wanted, calls, __ATOMIC_RELAXED);
	if (!hooks.header)
		return;
	hooks.header->throttle_calls = calls;
	hooks.header->throttle_ns = ns;
	for (uint32_t i = 0, count = sites_count(); i < count; i++)
		sites_at(i)->calls = sites_at(i)->tsc = 0;
	hooks_time_calls(calls != 0);
}

void sites_throttle_begin(void)
{
	if (calls_wanted)
		sites_throttle(calls_wanted, ns_wanted);
}

static uint64_t ns_of(uint64_t tsc)
{
	const struct tally_process *process = hooks.process;
	enum { PARTS = 1024 };
	uint64_t ns = runtime_now_ns(CLOCK_MONOTONIC) - process->start_ns;
	uint64_t all = machine_time_stamp() - process->start_tsc;
	return tsc / PARTS * (ns * PARTS / (all / PARTS + 1)) / PARTS;
}

static void look(struct sites_place *place)
{
	uint64_t signals;
	sites_lock(&signals);
	uint64_t calls = place->calls, ns = ns_of(place->tsc);
	bool is_due = calls_wanted && calls >= calls_wanted;
	if (is_due && ns / calls < ns_wanted && place->told && !(place->told->flags & TALLY_SITE_OFF)) {
		place->told->throttled_calls = calls;
		place->told->throttled_ns = ns;
		(void)sites_switch(place, false, TALLY_SITE_THROTTLED);
	} else if (is_due) {
		place->calls = place->tsc = 0;
	}
	sites_unlock(&signals);
}

void sites_took(uint64_t address, uint64_t tsc)
{
	struct sites_place *place = sites_find((const struct cpprof_site *)(uintptr_t)address);
	uint64_t wanted = __atomic_load_n(&calls_wanted, __ATOMIC_RELAXED);
	if (!place || !wanted)
		return;
	__atomic_add_fetch(&place->tsc, tsc, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&place->calls, 1, __ATOMIC_RELAXED) >= wanted)
		look(place);
}
