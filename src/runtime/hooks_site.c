/* What the objects of cpprof/profiler.h call when a place is entered and left, where that is not done at once. */
#include <cpprof/profiler.h>

#include "runtime/hooks_paths.h"
#include "runtime/sites.h"

/* Where the return address of the function lies that the object stands in: below its caller's part of the stack, so
 * it lies between those of the other hooks' frames. */
static uint64_t place_of(const void *frame_address)
{
	return ((uint64_t)(uintptr_t)frame_address - sizeof(uint64_t)) | HOOK_FRAME_LEAVES | HOOK_FRAME_SITE;
}

struct cpprof_frame *cpprof_site_enter(struct cpprof_site *site, const void *caller, const void *frame_address)
{
	struct hook_thread *thread = hook_thread;
	uint64_t code = (uint64_t)(uintptr_t)__builtin_return_address(0);
	if (thread == &hooks_nobody)
		thread = hooks_thread_begin();
	if (thread->measurement == &hooks_off)
		return NULL;
	if (__atomic_load_n(&site->state, __ATOMIC_ACQUIRE) == CPPROF_STATE_NEW)
		sites_register(site, code);
	if (__atomic_load_n(&site->state, __ATOMIC_RELAXED) == CPPROF_STATE_OFF)
		return NULL;
	thread->measurement->enter(thread, (uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)caller,
				   place_of(frame_address), code);
	return CPPROF_FRAME_UNKNOWN;
}

void cpprof_site_leave(struct cpprof_site *site, const void *caller, const void *frame_address)
{
	struct hook_thread *thread = hook_thread;
	thread->measurement->leave(thread, (uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)caller,
				   place_of(frame_address));
}
