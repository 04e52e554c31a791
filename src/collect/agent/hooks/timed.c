/*
 * Times each call: the time between two events is charged to the path that was current meanwhile. Time in functions
 * without hooks is charged to their caller. This needs hooks that report returns; for hooks that report entries
 * only, calls are counted.
 */
#include "collect/agent/hooks/paths.h"

static void enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		  uint64_t code)
{
	hooks_paths_charge(thread);
	hooks_paths_enter(thread, function, call_site, return_slot, code);
}

static void leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	hooks_paths_charge(thread);
	hooks_paths_leave(thread, function, call_site, return_slot);
}

static void rewind_to(struct hook_thread *thread, const struct hook_landing *landing)
{
	hooks_paths_charge(thread);
	hooks_paths_rewind(thread, landing);
}

static void flush(struct hook_thread *thread)
{
	hooks_paths_charge(thread);
}

const struct hook_measurement hooks_paths_timed = {
	.name = "paths-timed",
	.entered = hooks_paths_entered,
	.enter = enter,
	.leave = leave,
	.block = hooks_no_block,
	.tick = hooks_tick_current,
	.rewind = rewind_to,
	.flush = flush,
};
