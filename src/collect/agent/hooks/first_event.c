/* The measurement of a thread that has no state yet: each hook makes the state and passes the event on. */
#include "collect/agent/hooks/hooks.h"

static uint64_t begin_thread(void *nothing, uint64_t neither)
{
	(void)nothing;
	(void)neither;
	return (uint64_t)(uintptr_t)hooks_thread_begin();
}

static void none_entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	thread = (void *)(uintptr_t)hooks_keep_vectors(begin_thread, NULL, 0);
	thread->measurement->entered(thread, function, call_site, return_slot);
}

static void none_enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		       uint64_t code)
{
	thread = hooks_thread_begin();
	thread->measurement->enter(thread, function, call_site, return_slot, code);
}

static void none_leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	thread = hooks_thread_begin();
	thread->measurement->leave(thread, function, call_site, return_slot);
}

static void none_block(struct hook_thread *thread, uint64_t pc)
{
	thread = hooks_thread_begin();
	thread->measurement->block(thread, pc);
}

static void none_tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	thread = hooks_thread_begin();
	thread->measurement->tick(thread, request, hits, context);
}

static void none_rewind(struct hook_thread *thread, const struct hook_landing *landing)
{
	(void)thread;
	(void)landing;
}

static void none_flush(struct hook_thread *thread)
{
	(void)thread;
}

static const struct hook_measurement none = {
	.name = "none",
	.entered = none_entered,
	.enter = none_enter,
	.leave = none_leave,
	.block = none_block,
	.tick = none_tick,
	.rewind = none_rewind,
	.flush = none_flush,
};

struct hook_thread hooks_none = { .measurement = &none, .direct_low = UINT64_MAX };
