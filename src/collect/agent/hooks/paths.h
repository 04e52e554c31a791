/*
 * What the measurements share: edges of a node (hooks/edges.c), frames (hooks/frames.c), stacks (hooks/stacks.c),
 * and samples (hooks/ticks.c). All of a thread's own; async-signal-safe; general registers alone.
 */
#ifndef COLLECT_AGENT_HOOKS_PATHS_H
#define COLLECT_AGENT_HOOKS_PATHS_H

#include <cpprof/profiler.h>

#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

/* Of functions that are called with each event: as few lines of the processor's cache as can be. */
#define HOOK_HOT __attribute__((aligned(64)))

/* --- edges --- */

/* A call, as a hook tells of it. */
struct hook_call {
	uint64_t function, call_site, return_slot; /* as in struct hook_frame */
	uint64_t code_address;                     /* hooks that tell of returns: where the hook returns to */
	uint32_t flags;                            /* enum tally_edge_flags, of an edge that is made for it */
	uint32_t code; /* of code_address: the lower half, odd; 0: the hook knows entries alone */
	uint32_t
		distance; /* mcount, __fentry__: from its return slot up to that of its caller's frame; 0: not of use */
};

static inline bool hooks_call_is_probe(const struct hook_call *call)
{
	return call->return_slot & HOOK_FRAME_PROBE;
}

/* A probe point within the function that it is in. */
static inline bool hooks_call_is_within(const struct hook_call *call)
{
	const struct cpprof_site *descriptor = (const void *)(uintptr_t)call->function;
	return hooks_call_is_probe(call) && !probe_is_function(descriptor->kind);
}

/* The lower half of an address in code, with the lowest bit set: none is 0. */
static inline uint32_t hooks_code_word(uint64_t code_address)
{
	return (uint32_t)code_address | 1;
}

/* The edge of a node for such a call; NULL: there is none. */
struct tally_edge *hooks_edge_find(const struct hook_thread *thread, const struct tally_node *node,
				   const struct hook_call *call);

/* A new one, with its child where `has_child`; NULL: there is no memory, and the thread counts no more. */
struct tally_edge *hooks_edge_new(struct hook_thread *thread, struct tally_node *node, const struct hook_call *call,
				  bool has_child);

/* Called by code that has no hooks, as a hook tells that knows entries alone: whose call it is, is looked at each
 * time, so such an edge is never guessed. */
static inline bool hooks_edge_needs_a_look(const struct tally_edge *edge)
{
	return edge->flags & TALLY_EDGE_FOREIGN && edge->code == 0;
}

/* --- frames --- */

static inline bool hooks_frame_leaves(const struct hook_frame *frame)
{
	return frame->return_slot & HOOK_FRAME_LEAVES;
}

static inline bool hooks_frame_is_probe(const struct hook_frame *frame)
{
	return frame->return_slot & HOOK_FRAME_PROBE && frame->return_slot != HOOK_FRAME_BASE;
}

static inline bool hooks_frame_is_base(const struct hook_frame *frame)
{
	return frame->return_slot == HOOK_FRAME_BASE;
}

/* The stack of this address is the one that thread->stack_low and _high tell of from now on, and thread->top the
 * last frame on it, or the base of a new run. `interrupted`: the stack pointer that the last frame's function had when
 * it was left for this stack; 0: not known. */
void hooks_stack_turn(struct hook_thread *thread, uint64_t address, uint64_t interrupted);

/* The last frame that is still there for a call at call->return_slot, as far as that tells. */
struct hook_frame *hooks_frames_above(struct hook_thread *thread, const struct hook_call *call);

/* The last one from `top` on down whose and whose callers' return addresses are all there, the stack pointer being
 * that, or below. */
struct hook_frame *hooks_frames_whole(const struct hook_thread *thread, struct hook_frame *top, uint64_t stack_pointer);

/* The frame that a call was made from, which has an edge for it if made from `top`: that one, or below it another of
 * the same function that lies as far from the call's return slot as such calls' callers do. */
struct hook_frame *hooks_frames_at_distance(struct hook_frame *top, const struct hook_call *call,
					    const struct tally_edge *edge);

/* The frame that has made a call for which `top` has no edge; call->flags is set. */
struct hook_frame *hooks_frames_caller(const struct hook_thread *thread, struct hook_frame *top,
				       struct hook_call *call);

/* The frame that such a call of a probe point is made from, of `top` and those below it that share its own return slot and
 * call: `top` itself if it stands in the same function as the call's code, so one is inlined into the other; or below
 * all that a jump has left behind. */
struct hook_frame *hooks_frames_inlining(const struct hook_thread *thread, struct hook_frame *top,
					 const struct hook_call *call);

/* The frame that was the last one when the setjmp was called that the jump goes back to, if it lies in the run of `top`, the last
 * frame above the landing's stack pointer, and below that; else `top`. */
struct hook_frame *hooks_frames_landing(const struct hook_thread *thread, struct hook_frame *top,
					const struct hook_landing *landing);

/* Whether the hook that tells of this call is not in the function's own code. */
bool hooks_is_inlined_code(const struct hook_call *call);

/* Whether a call from `top`'s own call site is one of a function that is inlined there. */
bool hooks_is_inlined(const struct hook_thread *thread, const struct hook_frame *top, const struct hook_call *call);

/* The path that is current for code at `pc` with that stack pointer (a handler may have interrupted it). */
struct tally_node *hooks_frames_current(const struct hook_thread *thread, uint64_t stack_pointer, uint64_t pc);

/* A frame behind `top`, where there is room. What nearly always is there already is not written again: then nobody
 * who reads it next waits for what `node` was read from. The last frame that there is room for guesses nothing: so
 * who has guessed needs not ask. */
static inline __attribute__((always_inline)) void hooks_frame_push(struct hook_thread *thread, struct hook_frame *top,
								   struct tally_node *node, uint64_t call_site,
								   uint64_t return_slot)
{
	struct hook_frame *frame = top + 1;
	if (__builtin_expect(frame->node != node, 0)) {
		frame->node = node;
		frame->guess = frame + 1 < thread->limit ? node->recent : &hooks_no_edge;
	}
	frame->return_slot = return_slot;
	frame->call_site = call_site;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->top = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A handler that came before it was on top has used its words. */
	if (__builtin_expect(frame->node != node, 0))
		*frame = (struct hook_frame){ node, return_slot, call_site, &hooks_no_edge };
}

/* --- paths: also of measurements that count them and do more --- */

/* What hooks_paths_entered does; returns the path that is current then. */
struct tally_node *hooks_paths_count_entry(struct hook_thread *thread, uint64_t function, uint64_t call_site,
					   uint64_t return_slot);
void hooks_paths_entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
void hooks_paths_enter_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
			      uint64_t code);
void hooks_paths_leave_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
void hooks_paths_rewind(struct hook_thread *thread, const struct hook_landing *landing);

/* Whether what is entered at `return_slot` may be called by the frame on top: it lies below, or, inlined there, at the same return slot. */
static inline __attribute__((always_inline)) bool hooks_is_below(const struct hook_frame *top,
								 const struct tally_edge *edge, uint64_t return_slot)
{
	_Static_assert(TALLY_EDGE_INLINED < sizeof(uint64_t), "return slots are that far from each other");
	return top->return_slot + (edge->flags & TALLY_EDGE_INLINED) > return_slot;
}

/* What nearly always is all there is to do; false: it is not. */
static inline __attribute__((always_inline)) bool hooks_paths_enter_fast(struct hook_thread *thread, uint64_t function,
									 uint64_t call_site, uint64_t return_slot)
{
	struct hook_frame *top = thread->top;
	struct tally_edge *edge = top->guess;
	if (__builtin_expect(hooks_is_below(top, edge, return_slot) && return_slot >= thread->stack_low &&
				     edge->call_site == call_site && edge->function == function,
			     1)) {
		hooks_count(&edge->count);
		top->guess = edge->after;
		hooks_frame_push(thread, top, edge->child, call_site, return_slot);
		return true;
	}
	return false;
}

/* Whether a function that is left at `return_slot` may be `top`'s, which had given back its part of the stack before its hook was jumped to:
 * compilers do that where the hook is all that is left to do. */
static inline __attribute__((always_inline)) bool hooks_has_given_back(const struct hook_thread *thread,
								       const struct hook_frame *top, uint64_t call_site,
								       uint64_t return_slot)
{
	return top->return_slot < return_slot && top->call_site == call_site && (top - 1)->return_slot >= return_slot &&
	       return_slot < thread->stack_high;
}

static inline __attribute__((always_inline)) bool hooks_paths_leave_fast(struct hook_thread *thread, uint64_t function,
									 uint64_t call_site, uint64_t return_slot)
{
	struct hook_frame *top = thread->top;
	if (__builtin_expect(top->node->function != function, 0) ||
	    (__builtin_expect(top->return_slot != return_slot, 0) &&
	     !hooks_has_given_back(thread, top, call_site, return_slot)))
		return false;
	thread->top = top - 1;
	return true;
}

static inline __attribute__((always_inline)) void hooks_paths_enter(struct hook_thread *thread, uint64_t function,
								    uint64_t call_site, uint64_t return_slot,
								    uint64_t code)
{
	if (!hooks_paths_enter_fast(thread, function, call_site, return_slot))
		hooks_paths_enter_slowly(thread, function, call_site, return_slot, code);
}

static inline __attribute__((always_inline)) void hooks_paths_leave(struct hook_thread *thread, uint64_t function,
								    uint64_t call_site, uint64_t return_slot)
{
	if (!hooks_paths_leave_fast(thread, function, call_site, return_slot))
		hooks_paths_leave_slowly(thread, function, call_site, return_slot);
}

/* The time since the last event is the current path's. A handler that comes between charges what it finds, and then
 * there is nothing left to charge: but if it comes between the two lines that follow the comparison, what it finds is charged
 * twice, which is so rare that it is not worth a nanosecond of each call. */
static inline __attribute__((always_inline)) void hooks_paths_charge(struct hook_thread *thread)
{
	uint64_t now = machine_time_stamp();
	uint64_t last = thread->last_ticks;
	if (__builtin_expect(now > last, 1)) {
		thread->last_ticks = now;
		machine_add_word(&thread->top->node->exclusive_ticks, now - last);
	}
}

/* --- samples --- */

/* Charges a sample to a node. */
void hooks_tick_at(struct hook_thread *thread, struct tally_node *node, uint64_t pc, uint32_t request, uint64_t hits);

/* Where a handler has interrupted the program, or, without a context, where it has called into this library. */
void hooks_where(const void *context, uint64_t *pc, uint64_t *stack_pointer);

/* hook_measurement.tick of paths; and where there are none, of the thread as a whole. */
void hooks_tick_current(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);
void hooks_tick_root(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);

/* --- members of hook_measurement that do nothing --- */

void hooks_no_call(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
void hooks_no_block(struct hook_thread *thread, uint64_t pc);
void hooks_no_rewind(struct hook_thread *thread, const struct hook_landing *landing);
void hooks_no_flush(struct hook_thread *thread);

#endif
