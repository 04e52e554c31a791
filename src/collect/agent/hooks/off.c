/* The measurement of threads that do not count, now or at all. */
#include "collect/agent/hooks/paths.h"

void hooks_rewind(const struct hook_landing *landing)
{
	struct hook_thread *thread = hook_thread;
	if (thread) /* not in a resolver: see hooks.h */
		thread->measurement->rewind(thread, landing);
}

void hooks_no_call(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	(void)thread;
	(void)function;
	(void)call_site;
	(void)return_slot;
}

void hooks_no_block(struct hook_thread *thread, uint64_t pc)
{
	(void)thread;
	(void)pc;
}

void hooks_no_rewind(struct hook_thread *thread, const struct hook_landing *landing)
{
	(void)thread;
	(void)landing;
}

void hooks_no_flush(struct hook_thread *thread)
{
	(void)thread;
}

static void no_entry(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		     uint64_t code)
{
	(void)thread;
	(void)function;
	(void)call_site;
	(void)return_slot;
	(void)code;
}

static void no_tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	(void)thread;
	(void)request;
	(void)hits;
	(void)context;
}

const struct hook_measurement hooks_off = {
	.name = "off",
	.entered = hooks_no_call,
	.enter = no_entry,
	.leave = hooks_no_call,
	.block = hooks_no_block,
	.tick = no_tick,
	.rewind = hooks_no_rewind,
	.flush = hooks_no_flush,
};
