/* Exact counts of calls per call path, and samples that are charged to the path that is current. */
#include "collect/agent/hooks/paths.h"
#include "processor/agent/hooks_offsets.h"

#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), "as in hooks.S")
AT(hook_thread, measurement, THREAD_MEASUREMENT);
AT(hook_thread, top, THREAD_TOP);
AT(hook_thread, limit, THREAD_LIMIT);
AT(hook_thread, cache, THREAD_CACHE);
AT(hook_measurement, entered, MEASUREMENT_ENTERED);
AT(hook_frame, node, FRAME_NODE);
AT(hook_frame, return_slot, FRAME_RETURN_SLOT);
AT(hook_frame, call_site, FRAME_CALL_SITE);
AT(hook_frame, guess, FRAME_GUESS);
AT(tally_node, recent, NODE_RECENT);
AT(tally_edge, call_site, EDGE_CALL_SITE);
AT(tally_edge, function, EDGE_FUNCTION);
AT(tally_edge, count, EDGE_COUNT);
AT(tally_edge, child, EDGE_CHILD);
AT(tally_edge, code, EDGE_CODE);
AT(tally_edge, after, EDGE_AFTER);
_Static_assert(sizeof(struct hook_frame) == FRAME_BYTES && (int)HOOK_CACHE == CACHE_SIZE, "as in hooks.S");

/* Sets the guess of a frame's next call: the call that followed the same call before. frame + 1 still holds the last
 * call that this frame, or an earlier frame of its node at this depth, has made. `edge` becomes the successor of
 * that call, or, if there is none, the node's first call. */
static void set_guess(struct hook_thread *thread, struct hook_frame *frame, struct tally_edge *edge)
{
	struct tally_node *node = frame->node;
	const struct hook_frame *callee = frame + 1;
	struct tally_edge *last = NULL;
	if (hooks_edge_needs_a_look(edge))
		return;
	if (callee->node && callee->node->parent == node) {
		const struct hook_call call = { .function = callee->node->function, .call_site = callee->call_site };
		last = hooks_edge_find(thread, node, &call);
	}
	if (last && !hooks_edge_needs_a_look(last))
		last->after = edge;
	if (!last || node->recent == &hooks_no_edge)
		node->recent = edge;
	if (!hooks_frame_is_base(frame))
		frame->guess = edge->after;
}

/* Counts a call and pushes its frame. `edge` is the call's edge below the frame `top`. If it is NULL, finds the
 * caller, which is `top` or a frame below it, and finds or makes the edge. Returns the path that is current
 * afterwards. (If hooks report entries only, calls of a handler that has returned may lie above the caller.) */
static struct tally_node *count(struct hook_thread *thread, struct hook_frame *top, struct tally_edge *edge,
				struct hook_call *call)
{
	if (!edge) {
		top = hooks_frames_caller(thread, top, call);
		edge = hooks_edge_find(thread, top->node, call);
	}
	if (!edge) {
		if (!call->code && !(call->flags & TALLY_EDGE_FOREIGN))
			call->distance = (uint32_t)(top->return_slot - call->return_slot);
		edge = hooks_edge_new(thread, top->node, call, true);
	}
	if (!edge)
		return thread->top->node;
	hooks_count(&edge->count);
	if (top + 1 < thread->limit) {
		struct tally_node *node = edge->child;
		set_guess(thread, top, edge);
		hooks_frame_push(thread, top, node, call->call_site, call->return_slot);
		return node;
	}
	thread->depth_unknown++;
	thread->top = top;
	return top->node;
}

/* --- hooks that report entries only --- */

struct tally_node *hooks_paths_count_entry(struct hook_thread *thread, uint64_t function, uint64_t call_site,
					   uint64_t return_slot)
{
	struct hook_call call = { .function = function, .call_site = call_site, .return_slot = return_slot };
	struct hook_frame *top = hooks_frames_above(thread, &call);
	struct tally_edge *edge = hooks_edge_find(thread, top->node, &call);
	struct hook_frame *caller = edge ? hooks_frames_at_distance(top, &call, edge) : top;
	if (caller != top)
		edge = hooks_edge_find(thread, caller->node, &call);
	/* Code without hooks made the call: slots above it may hold old values. */
	if (edge && edge->flags & TALLY_EDGE_FOREIGN)
		edge = NULL;
	return count(thread, caller, edge, &call);
}

void hooks_paths_entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	(void)hooks_paths_count_entry(thread, function, call_site, return_slot);
}

/* --- hooks that report returns --- */

void hooks_paths_enter_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
			      uint64_t code)
{
	struct hook_call call = { .function = function,
				  .call_site = call_site,
				  .return_slot = return_slot,
				  .code_address = code,
				  .code = hooks_code_word(code) };
	struct hook_frame *top = hooks_frames_above(thread, &call);
	if (hooks_call_is_probe(&call) && top->return_slot == return_slot && top->call_site == call_site) {
		struct tally_edge *edge = hooks_edge_find(thread, top->node, &call);
		bool is_usual = edge && edge->flags & TALLY_EDGE_INLINED && top->node->function != function;
		if (!is_usual)
			top = hooks_frames_inlining(thread, top, &call);
		count(thread, top, hooks_edge_find(thread, top->node, &call), &call);
		return;
	}
	/* A frame with this return slot and call site: the function is inlined into it, or a jump has left it
	 * behind, since the same call is made again. */
	while (top->return_slot == return_slot && top->call_site == call_site) {
		struct tally_edge *edge = hooks_edge_find(thread, top->node, &call);
		bool is_inlined = edge && edge->flags & TALLY_EDGE_INLINED && top->node->function != function;
		if (is_inlined || hooks_is_inlined(thread, top, &call)) {
			count(thread, top, edge, &call);
			return;
		}
		top--;
	}
	count(thread, top, hooks_edge_find(thread, top->node, &call), &call);
}

/* Finds the frame of a function that is left, from `top` outward. It lies at the return slot; or above it, if the
 * function has taken more of the stack since; or below it, if the hook was jumped to after the function's stack
 * frame was released. Frames below the return slot that are not the function's have ended: *gone is then the frame
 * before them. Returns NULL if the function has no frame. */
static struct hook_frame *find_left(struct hook_frame *top, uint64_t function, uint64_t call_site, uint64_t return_slot,
				    struct hook_frame **gone)
{
	struct hook_frame *frame = top;
	for (; !hooks_frame_is_base(frame); frame--) {
		bool is_it = frame->node->function == function && frame->call_site == call_site;
		if (frame->return_slot >= return_slot && is_it)
			return frame;
		if (frame->return_slot > return_slot)
			return NULL;
		if (frame->return_slot < return_slot && is_it && (frame - 1)->return_slot >= return_slot)
			return frame;
		if (frame->return_slot < return_slot)
			*gone = frame - 1;
	}
	return NULL;
}

void hooks_paths_leave_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	struct hook_range stack;
	struct hook_frame *top = hooks_stack_turn(thread, return_slot & ~(uint64_t)HOOK_FRAME_LEAVES, 0, &stack);
	struct hook_frame *gone = top;
	if (thread->depth_unknown && top->return_slot > return_slot) {
		thread->depth_unknown--;
		return;
	}
	struct hook_frame *left = find_left(top, function, call_site, return_slot, &gone);
	thread->depth_unknown = 0;
	thread->top = left ? left - 1 : gone;
}

/* --- the rest --- */

static void enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		  uint64_t code)
{
	hooks_paths_enter(thread, function, call_site, return_slot, code);
}

static void leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	hooks_paths_leave(thread, function, call_site, return_slot);
}

void hooks_paths_rewind(struct hook_thread *thread, const struct hook_landing *landing)
{
	uint64_t stack_pointer = landing->stack_pointer;
	struct hook_range stack;
	struct hook_frame *top = hooks_stack_turn(thread, stack_pointer, 0, &stack);
	while (top->return_slot < stack_pointer)
		top--;
	thread->depth_unknown = 0;
	thread->top = hooks_frames_landing(thread, top, landing);
}

const struct hook_measurement hooks_paths = {
	.name = "paths",
	.entered = hooks_paths_entered,
	.enter = enter,
	.leave = leave,
	.block = hooks_no_block,
	.tick = hooks_tick_current,
	.rewind = hooks_paths_rewind,
	.flush = hooks_no_flush,
};
