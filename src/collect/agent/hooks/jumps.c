/*
 * Drops the probe points of one function that a jump within the function leaves. Their frames lie where that of the
 * function lies, so the stack pointer does not distinguish them.
 *
 *     work()                                   frames  root | main | work
 *     {
 *             if (setjmp(back) == 0) {                 remembered: work
 *                     CPPROF_REGION("row");            root | main | work | work: row
 *                     other();  -> longjmp             root | main | work | work: row | other
 *             }
 *             ...                                      root | main | work
 *
 * By the time of the jump, the remembered frame may be that of another call: its node, return slot or call site then
 * differs. The buffer may have been copied: then it is unknown, or was filled in with another stack pointer. If two
 * buffers have the same slot, the last one gets it.
 */
#include "collect/agent/hooks/paths.h"

static uint32_t slot_of(const void *buffer)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;
	enum { UPPER_HALF = 32 };
	return (uint32_t)((uint64_t)(uintptr_t)buffer * golden >> UPPER_HALF) % HOOK_JUMPS;
}

void hooks_remember(const struct hook_landing *landing)
{
	struct hook_thread *thread = hook_thread;
	if (thread->measurement == &hooks_off || !thread->frames)
		return;
	const struct hook_frame *top = thread->top;
	thread->jumps[slot_of(landing->buffer)] = (struct hook_jump){ *landing, (uint64_t)(top - thread->frames),
								      top->node, top->return_slot, top->call_site };
}

struct hook_frame *hooks_frames_landing(const struct hook_thread *thread, struct hook_frame *top,
					const struct hook_landing *landing)
{
	const struct hook_jump *jump = &thread->jumps[slot_of(landing->buffer)];
	if (!landing->buffer || jump->landing.buffer != landing->buffer ||
	    jump->landing.stack_pointer != landing->stack_pointer || jump->depth >= (uint64_t)(top - thread->frames))
		return top;
	struct hook_frame *found = thread->frames + jump->depth;
	if (found->node != jump->node || found->return_slot != jump->return_slot || found->call_site != jump->call_site)
		return top;
	for (const struct hook_frame *frame = top; frame > found; frame--)
		if (hooks_frame_is_base(frame))
			return top;
	return found;
}
