/*
 * Drops the probe points of one function that a jump within the function leaves. Their frames lie where the frame of the
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
 * By the time of the jump, the remembered frame may belong to another call: its node, return slot
 * or call site then differs. The buffer may have been copied: then it is unknown, or was filled in
 * with another stack pointer. A set has room for a few buffers: those that were remembered last.
 */
#include "collect/agent/hooks/paths.h"

static struct hook_jump *set_of(struct hook_thread *thread, const void *buffer)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;
	enum { UPPER_HALF = 32 };
	return thread->jumps[(uint32_t)((uint64_t)(uintptr_t)buffer * golden >> UPPER_HALF) % HOOK_JUMP_SETS];
}

/* Returns the way of a set that has the buffer, or HOOK_JUMP_WAYS. */
static unsigned way_of(const struct hook_jump *set, const void *buffer)
{
	unsigned way = 0;
	while (way < HOOK_JUMP_WAYS && set[way].landing.buffer != buffer)
		way++;
	return way;
}

void hooks_store_jump(const struct hook_landing *landing)
{
	struct hook_thread *thread = hook_thread;
	if (!thread || thread->measurement == &hooks_off || !thread->frames)
		return;
	const struct hook_frame *top = thread->top;
	struct hook_jump *set = set_of(thread, landing->buffer);
	unsigned way = way_of(set, landing->buffer);
	for (unsigned i = way < HOOK_JUMP_WAYS ? way : HOOK_JUMP_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = (struct hook_jump){ *landing, (uint64_t)(top - thread->frames), top->node, top->return_slot,
				     top->call_site };
}

struct hook_frame *hooks_frames_landing(struct hook_thread *thread, struct hook_frame *top,
					const struct hook_landing *landing)
{
	const struct hook_jump *set = set_of(thread, landing->buffer), *jump = set + way_of(set, landing->buffer);
	if (!landing->buffer || jump == set + HOOK_JUMP_WAYS || jump->landing.stack_pointer != landing->stack_pointer ||
	    jump->depth >= (uint64_t)(top - thread->frames))
		return top;
	struct hook_frame *found = thread->frames + jump->depth;
	if (found->node != jump->node || found->return_slot != jump->return_slot || found->call_site != jump->call_site)
		return top;
	for (const struct hook_frame *frame = top; frame > found; frame--)
		if (hooks_frame_is_base(frame))
			return top;
	return found;
}
