/* Decides whether the inline code of cpprof/profiler.h may count a call. */
#include "collect/agent/hooks/paths.h"

void hooks_allow_direct(struct hook_thread *thread)
{
	const struct hook_measurement *measurement = __atomic_load_n(&thread->measurement, __ATOMIC_RELAXED);
	bool is_direct = measurement == &hooks_paths || measurement == &hooks_paths_timed;
	if (measurement == &hooks_paths)
		thread->last_ticks = 0;
	__atomic_store_n(&thread->direct_low, is_direct ? thread->stack_low : UINT64_MAX, __ATOMIC_RELAXED);
}
