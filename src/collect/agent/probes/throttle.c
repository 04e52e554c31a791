/*
 * Throttling: a probe point that is entered often and does little each time switches itself off. While throttling is
 * enabled, the library times each call of a probe point (hooks/around.c), and checks a probe point after every
 * `calls_wanted` calls.
 */
#include "collect/agent/hooks/around.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/probes/registry.h"

static uint64_t calls_wanted; /* calls between two checks; 0: throttling is disabled */
static uint64_t ns_wanted;    /* throttle if the mean time of a call is below it */

void probes_throttle(uint64_t calls, uint64_t ns)
{
	__atomic_store_n(&ns_wanted, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&calls_wanted, calls, __ATOMIC_RELAXED);
	if (!hooks.header)
		return;
	hooks.header->throttle_calls = calls;
	hooks.header->throttle_ns = ns;
	for (uint32_t i = 0, count = probes_count(); i < count; i++)
		probes_at(i)->calls = probes_at(i)->ticks = 0;
	hooks_time_calls(calls != 0);
}

void probes_throttle_begin(void)
{
	if (calls_wanted)
		probes_throttle(calls_wanted, ns_wanted);
}

static uint64_t ns_of(uint64_t ticks)
{
	const struct tally_process *process = hooks.process;
	enum { PARTS = 1024 };
	uint64_t ns = runtime_stamp_ns() - process->start_ns;
	uint64_t all = machine_time_stamp() - process->start_ticks;
	return ticks / PARTS * (ns * PARTS / (all / PARTS + 1)) / PARTS;
}

static void check_rate(struct probes_entry *probe)
{
	uint64_t signals;
	probes_lock(&signals);
	uint64_t calls = probe->calls, ns = ns_of(probe->ticks);
	bool is_due = calls_wanted && calls >= calls_wanted;
	if (is_due && ns / calls < ns_wanted && probe->record && !(probe->record->flags & TALLY_PROBE_OFF)) {
		probe->record->throttled_calls = calls;
		probe->record->throttled_ns = ns;
		(void)probes_switch(probe, false, TALLY_PROBE_THROTTLED);
	} else if (is_due) {
		probe->calls = probe->ticks = 0;
	}
	probes_unlock(&signals);
}

void probes_took(uint64_t address, uint64_t ticks)
{
	struct probes_entry *probe = probes_find((const struct cpprof_probe *)(uintptr_t)address);
	uint64_t wanted = __atomic_load_n(&calls_wanted, __ATOMIC_RELAXED);
	if (!probe || !wanted)
		return;
	__atomic_add_fetch(&probe->ticks, ticks, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&probe->calls, 1, __ATOMIC_RELAXED) >= wanted)
		check_rate(probe);
}
