/*
 * Which calls are still active. Hooks report entries; some (-finstrument-functions) also report returns. No hook
 * reports the calls that a jump or an exception has left. Frames are kept as they were pushed, and are checked when
 * the next event comes.
 *
 *	|  caller                                    higher addresses
 *	|  return address of f    <- return slot of f, if its hook reports entries only
 *	|  frame of f
 *	|                         <- return slot of f, if its hook reports the return as well (HOOK_FRAME_LEAVES)
 *	|  return address of g    <- return slot of g ...
 *
 *   1. The frames on one stack are in the order of their return slots. A run (hooks/stacks.c) has the frames of one
 *      stack only. Each lies below the frame before it or, if it is inlined, at the same return slot.
 *   2. A call at return slot A is made by code whose stack pointer is above A. So frames at A or below have
 *      returned, or a jump has left them: they are dropped. Exception: an inlined function has the return slot and
 *      the call site of the function that it is inlined into (hooks_is_inlined).
 *   3. A frame above A may be dead as well: its function has returned to its caller, which has then moved its stack
 *      pointer down (alloca, arguments), or called code without hooks that has called back. A call that has returned
 *      does not keep its return address: if its slot holds another one, the frame is dead, and so are all frames
 *      called from there. For hooks that report returns there is no such slot, and none is needed.
 *   4. A slot is read only if it lies between the current stack pointer and the upper end of the stack, and only on
 *      a stack with known bounds.
 *   5. A slot of a dead frame still holds its return address until it is overwritten. So each edge has the distance
 *      from the call's return slot up to the return slot of its caller. The distance is the same each time the call is made,
 *      except in functions that take more of the stack as they run (alloca). Among the frames of the caller's
 *      function, the frame at this distance is the caller (hooks_frames_at_distance). hooks.S checks distances only.
 *      If a call has no edge yet, the unwind tables give the function that contains its call site; the frames above
 *      that function's frame are dead (hooks_frames_caller). If no frame's function contains the call site, the call
 *      is foreign, and the slots of all frames are checked each time it is made (hooks_frames_whole). A handler's
 *      calls are made from the frames that lie above the stack pointer that it has interrupted.
 *   6. A tail call takes over its caller's return slot and call site. So the caller's frame is dropped by rule 2,
 *      and the path of the callee becomes a child of the frame before it. (For hooks that report returns, no call is
 *      a tail call.)
 *   7. A call counts once, even if the frames are wrong.
 */
#include "collect/agent/hooks/paths.h"
#include "processor/agent/machine.h"

void hooks_frames_begin(struct hook_thread *thread, struct tally_node *root)
{
	thread->frames[0] = (struct hook_frame){ root, HOOK_FRAME_BASE, 0, &hooks_no_edge };
	thread->top = thread->run = thread->frames;
	/* An empty range: it contains no return slot. */
	thread->stack_low = UINT64_MAX;
	thread->stack_high = 0;
	hooks_allow_direct(thread);
	thread->other_low = thread->other_high = 0;
	thread->depth_unknown = 0;
	if (thread->own_high != machine_thread_pointer())
		thread->own_low = thread->own_high = 0;
	hooks_clear_arcs(thread);
}

void hooks_frame_push_again(struct hook_thread *thread, struct hook_frame *frame, struct tally_node *node,
			    uint64_t call_site, uint64_t return_slot)
{
	for (int tries = 0; tries < HOOK_TRIES; tries++) {
		frame->return_slot = return_slot;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		frame->node = node;
		frame->call_site = call_site;
		frame->guess = &hooks_no_edge;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		thread->top = frame;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (frame->return_slot == return_slot)
			return;
	}
}

/* --- by return slots and what they hold --- */

/* Returns true if a frame of a stack has returned. `stack_pointer` is the stack pointer, or an address below it. */
static bool is_dead(struct hook_range stack, const struct hook_frame *frame, uint64_t stack_pointer)
{
	if (frame->return_slot < stack_pointer)
		return true;
	return !hooks_frame_leaves(frame) && hooks_is_in(stack, frame->return_slot) &&
	       *(const uint64_t *)(uintptr_t)frame->return_slot != frame->call_site;
}

struct hook_frame *hooks_frames_whole(struct hook_range stack, struct hook_frame *top, uint64_t stack_pointer)
{
	enum { FRAMES = 4096 }; /* further frames of a deeper recursion count as active */
	struct hook_frame *whole = top;
	for (struct hook_frame *frame = top; !hooks_frame_is_base(frame) && top - frame < FRAMES; frame--)
		if (is_dead(stack, frame, stack_pointer))
			whole = frame - 1;
	return whole;
}

/* Returns true if a frame is not on the stack of a call: a handler has come when the base of the call's run was just
 * overwritten. */
static bool is_elsewhere(const struct hook_frame *frame, const struct hook_call *call)
{
	return call->stack.low < call->stack.high && !hooks_frame_is_base(frame) &&
	       !hooks_is_in(call->stack, frame->return_slot);
}

/* Returns true if a frame has ended when a call is made, according to the return slots. */
static bool is_over(const struct hook_frame *frame, const struct hook_call *call)
{
	if (is_elsewhere(frame, call))
		return false;
	return frame->return_slot < call->return_slot ||
	       (frame->return_slot == call->return_slot && (!call->code || frame->call_site != call->call_site)) ||
	       is_dead(call->stack, frame, 0);
}

struct hook_frame *hooks_frames_above(struct hook_thread *thread, struct hook_call *call)
{
	uint64_t address = call->return_slot & ~(uint64_t)HOOK_FRAME_LEAVES;
	struct hook_frame *above = NULL;
	for (int tries = 0; tries < HOOK_TRIES; tries++) {
		struct hook_frame *top =
			hooks_stack_turn(thread, address, call->code ? 0 : call->call_site, &call->stack);
		for (above = top; is_over(above, call); above--)
			;
		/* A handler that has come meanwhile may have pushed frames over those that have ended. */
		if (!hooks_stack_is_at(thread, top, call->stack))
			continue;
		if (!is_elsewhere(above, call))
			break;
		thread->top = above;
	}
	return above;
}

struct hook_frame *hooks_frames_at_distance(struct hook_frame *top, const struct hook_call *call,
					    const struct tally_edge *edge)
{
	uint64_t function = top->node->function;
	if (edge->code == 0 || edge->code == (uint32_t)(top->return_slot - call->return_slot))
		return top;
	for (struct hook_frame *frame = top - 1; !hooks_frame_is_base(top) && !hooks_frame_is_base(frame); frame--) {
		if (frame->return_slot - call->return_slot > edge->code)
			break;
		if (frame->return_slot - call->return_slot == edge->code && frame->node->function == function)
			return frame;
	}
	return top;
}

/* --- by functions --- */

struct bounds {
	uint64_t start, end; /* 0: unknown */
};

static uint64_t find_keeping(void *bounds, uint64_t address)
{
	struct bounds *found = bounds;
	return hooks_function_bounds(address, &found->start, &found->end);
}

static struct bounds bounds_of(uint64_t address)
{
	struct bounds bounds = { 0, 0 };
	if (!hooks_keep_vectors(find_keeping, &bounds, address))
		bounds.start = bounds.end = 0;
	return bounds;
}

static bool contains(struct bounds bounds, uint64_t address)
{
	return address >= bounds.start && address < bounds.end;
}

/* Returns the edge of the call that made a frame, or NULL if it is not found. */
static const struct tally_edge *edge_to(const struct hook_thread *thread, const struct hook_frame *frame)
{
	const struct hook_call call = { .function = frame->node->function, .call_site = frame->call_site };
	return frame > thread->frames ? hooks_edge_find(thread, (frame - 1)->node, &call) : NULL;
}

/* Returns true if a frame's function is the code in `bounds`. For a probe point, the edge has the lower half of the
 * address from which its hook was called first. */
static bool is_of(const struct hook_thread *thread, const struct hook_frame *frame, struct bounds bounds)
{
	if (!hooks_frame_is_probe(frame))
		return contains(bounds, frame->node->function);
	const struct tally_edge *edge = edge_to(thread, frame);
	return edge && edge->code && edge->code - (uint32_t)bounds.start < bounds.end - bounds.start;
}

bool hooks_is_inlined_code(const struct hook_call *call)
{
	if (!call->code)
		return false;
	if (hooks_call_is_probe(call))
		return hooks_call_is_within(call);
	struct bounds bounds = bounds_of(call->code_address - 1);
	return bounds.end && !contains(bounds, call->function);
}

bool hooks_is_inlined(const struct hook_thread *thread, const struct hook_frame *top, const struct hook_call *call)
{
	if (!call->code || hooks_frame_is_base(top) || !hooks_frame_leaves(top) || top->call_site != call->call_site)
		return false;
	if (hooks_call_is_probe(call)) /* hooks_frames_inlining has checked the rest */
		return top->return_slot == call->return_slot;
	if (top->node->function == call->function) {
		/* Either the second hook of a function that is inlined into itself, or the same hook again. */
		const struct tally_edge *edge = top > thread->frames ? edge_to(thread, top) : NULL;
		return edge && edge->code != call->code;
	}
	return hooks_is_inlined_code(call);
}

static bool shares_call(const struct hook_frame *frame, const struct hook_call *call)
{
	return frame->return_slot == call->return_slot && frame->call_site == call->call_site;
}

static uint64_t is_part_keeping(void *nothing, uint64_t address)
{
	(void)nothing;
	return hooks_is_function_part(address);
}

/* Finds the frames that a jump has left, among those at the call's return slot and call site, from `top` outward. A
 * function leaves a probe point before it enters it again. So a frame was left by a jump if the same code has
 * entered it, or if it is of the same region and no function was entered since. Returns the frame before the
 * outermost of these, or NULL if there is none. */
static struct hook_frame *before_older(const struct hook_thread *thread, struct hook_frame *top,
				       const struct hook_call *call)
{
	struct hook_frame *before = NULL;
	bool may_be_region = hooks_call_is_within(call);
	for (struct hook_frame *frame = top; shares_call(frame, call); frame--) {
		const struct tally_edge *edge = edge_to(thread, frame);
		bool is_same = frame->node->function == call->function;
		if (is_same && ((edge && edge->code == call->code) || may_be_region))
			before = frame - 1;
		if (edge && !(edge->flags & TALLY_EDGE_WITHIN))
			may_be_region = false;
	}
	return before;
}

struct hook_frame *hooks_frames_inlining(const struct hook_thread *thread, struct hook_frame *top,
					 const struct hook_call *call)
{
	struct hook_frame *before = before_older(thread, top, call);
	if (before)
		top = before;
	if (!shares_call(top, call))
		return top;
	/* If the code of `top` and of the call are in different functions, the same call site has called first one
	 * and then the other, and the first one's frames have ended. Parts of functions cannot be compared. */
	struct bounds bounds = bounds_of(call->code_address - 1);
	const struct tally_edge *edge = edge_to(thread, top);
	uint64_t top_code = edge ? (call->code_address & ~(uint64_t)UINT32_MAX) | edge->code : 0;
	if (!bounds.end || !top_code || is_of(thread, top, bounds) ||
	    hooks_keep_vectors(is_part_keeping, NULL, call->code_address - 1) ||
	    hooks_keep_vectors(is_part_keeping, NULL, top_code - 1))
		return top;
	while (shares_call(top, call))
		top--;
	return top;
}

/* Returns true if a frame is inlined into the frame before it. */
static bool is_inlined_frame(const struct hook_frame *frame)
{
	const struct hook_frame *before = frame - 1;
	return hooks_frame_leaves(frame) && !hooks_frame_is_base(before) && frame->call_site == before->call_site &&
	       (frame->return_slot == before->return_slot || frame->node->function != before->node->function);
}

struct hook_frame *hooks_frames_caller(const struct hook_thread *thread, struct hook_frame *top, struct hook_call *call)
{
	enum { NEAR_FRAMES = 64 }; /* dead frames above the caller's stack pointer lie in a short piece of stack */
	call->flags = TALLY_EDGE_INLINED;
	if (hooks_is_inlined(thread, top, call))
		return top;
	call->flags = 0;
	struct bounds caller = bounds_of(call->call_site - 1);
	if (hooks_frame_is_probe(top) && hooks_keep_vectors(is_part_keeping, NULL, call->call_site - 1))
		return top;
	struct hook_frame *last = top; /* the innermost frame that is inlined into `frame`, or `frame` */
	for (struct hook_frame *frame = top; caller.end && !hooks_frame_is_base(frame) && top - frame < NEAR_FRAMES;
	     frame--) {
		if (is_of(thread, frame, caller))
			return last;
		if (!is_inlined_frame(frame))
			last = frame - 1;
	}
	/* The caller of a probe point is often unknown if another compiler than gcc or clang has compiled it and
	 * written no unwind tables: the last frame then counts as the caller. */
	call->flags = hooks_call_is_probe(call) && !caller.end ? 0 : TALLY_EDGE_FOREIGN;
	uint64_t interrupted = call->code ? 0 : machine_interrupted_by(call->call_site, call->return_slot);
	return hooks_frames_whole(call->stack, top, hooks_is_in(call->stack, interrupted) ? interrupted : 0);
}

/* --- samples --- */

/* Returns the frame of the function that contains `pc`, whatever the slots still hold; or `top` if there is none. */
static const struct hook_frame *executing(const struct hook_thread *thread, const struct hook_frame *top, uint64_t pc)
{
	enum { NEAR_FRAMES = 256 };
	struct bounds bounds;
	if (!hooks_function_bounds(pc, &bounds.start, &bounds.end))
		return top;
	const struct hook_frame *last = top;
	for (const struct hook_frame *frame = top; !hooks_frame_is_base(frame) && top - frame < NEAR_FRAMES; frame--) {
		if (is_of(thread, frame, bounds))
			return last;
		if (!is_inlined_frame(frame))
			last = frame - 1;
	}
	return top;
}

struct tally_node *hooks_frames_current(const struct hook_thread *thread, uint64_t stack_pointer, uint64_t pc)
{
	struct hook_frame *top = thread->top;
	/* If a hook was interrupted, the frame on top may not have been written yet. */
	while (!top->node)
		top--;
	struct hook_range stack = hooks_stack_of(thread, top);
	if (hooks_is_in(stack, stack_pointer))
		top = hooks_frames_whole(stack, top, stack_pointer);
	return executing(thread, top, pc)->node;
}
