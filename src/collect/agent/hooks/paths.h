/*
 * The parts that measurements share: edges of a node (hooks/edges.c), frames (hooks/frames.c), stacks
 * (hooks/stacks.c) and samples (hooks/ticks.c). Each state belongs to one thread. All functions are
 * async-signal-safe and use general registers only.
 */
#ifndef COLLECT_AGENT_HOOKS_PATHS_H
#define COLLECT_AGENT_HOOKS_PATHS_H

#include <cpprof/profiler.h>

#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

/* For functions that each event calls: the alignment makes them occupy as few cache lines as possible. */
#define HOOK_HOT __attribute__((aligned(64)))

/* --- edges --- */

/* Addresses from `low` to before `high`. */
struct hook_range {
	uint64_t low, high;
};

static inline bool hooks_is_in(struct hook_range range, uint64_t address)
{
	return address - range.low < range.high - range.low;
}

/* A call, as its hook reports it. */
struct hook_call {
	uint64_t function, call_site, return_slot; /* as in struct hook_frame */
	uint64_t code_address;                     /* hooks that report returns: the hook's return address */
	uint32_t flags;                            /* enum tally_edge_flags, for the edge that is made for this call */
	uint32_t code;                             /* hooks_code_word(code_address); 0: the hook reports entries only */
	uint32_t distance;       /* mcount, __fentry__: the caller's return slot minus this one; 0: unusable */
	struct hook_range stack; /* where it was made, set by hooks_frames_above; empty if the bounds are unknown */
};

static inline bool hooks_call_is_probe(const struct hook_call *call)
{
	return call->return_slot & HOOK_FRAME_PROBE;
}

/* Returns true if the call is the entry of a probe point inside a function: a region or a loop, for example. */
static inline bool hooks_call_is_within(const struct hook_call *call)
{
	const struct cpprof_probe *descriptor = (const void *)(uintptr_t)call->function;
	return hooks_call_is_probe(call) && !probe_is_function(descriptor->kind);
}

/* The lower half of an address in code. The lowest bit is set, so that the result is never 0. */
static inline uint32_t hooks_code_word(uint64_t code_address)
{
	return (uint32_t)code_address | 1;
}

/* Returns the node's edge for this call, or NULL if there is none. */
struct tally_edge *hooks_edge_find(const struct hook_thread *thread, const struct tally_node *node,
				   const struct hook_call *call);

/* Makes the node's edge for this call, with a child if `has_child`. Returns NULL if there is no memory; the thread
 * has then stopped counting. */
struct tally_edge *hooks_edge_new(struct hook_thread *thread, struct tally_node *node, const struct hook_call *call,
				  bool has_child);

/* Returns true for an edge whose call came from code without hooks and was reported by a hook that reports entries
 * only. The caller of such a call is determined each time, so the edge is never used as a guess. */
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

/* Work that a handler may have disturbed is done again, but not for ever: handlers may come at every instruction. */
enum { HOOK_TRIES = 8 };

/* Returns the last frame on the stack that contains `address`, or the base of a new run. Where the thread turns to
 * that stack, sets thread->top to this frame, and thread->stack_low and _high to the bounds. `call_site`: the return
 * address that the stack holds at `address`, or 0 if it holds none. *stack: the bounds, empty if they are unknown. */
struct hook_frame *hooks_stack_turn(struct hook_thread *thread, uint64_t address, uint64_t call_site,
				    struct hook_range *stack);

/* Returns true if thread->top and the bounds are still those that hooks_stack_turn has returned. */
bool hooks_stack_is_at(const struct hook_thread *thread, const struct hook_frame *top, struct hook_range stack);

/* Returns the bounds of the stack of the frame `top`, empty if they are unknown or if it is a base. The thread's bounds
 * may be the bounds of a handler that has interrupted a hook. */
struct hook_range hooks_stack_of(const struct hook_thread *thread, const struct hook_frame *top);

/* Returns the last frame that is still active when a call at call->return_slot is made, according to the return
 * slots. Sets call->stack. */
struct hook_frame *hooks_frames_above(struct hook_thread *thread, struct hook_call *call);

/* Returns the innermost frame, from `top` outward, that is active with all its callers, according to `stack_pointer`
 * and the return addresses on the stack. `stack_pointer` is the stack pointer or an address below it; 0: unknown.
 * `stack`: the bounds of the stack of `top`. */
struct hook_frame *hooks_frames_whole(struct hook_range stack, struct hook_frame *top, uint64_t stack_pointer);

/* Returns the frame that made a call; `edge` is the call's edge below top->node. This is `top`, or a frame below it
 * of the same function, if that one is as far from the call's return slot as edge->code states. */
struct hook_frame *hooks_frames_at_distance(struct hook_frame *top, const struct hook_call *call,
					    const struct tally_edge *edge);

/* Returns the frame that made a call for which `top` has no edge, and sets call->flags. */
struct hook_frame *hooks_frames_caller(const struct hook_thread *thread, struct hook_frame *top,
				       struct hook_call *call);

/* Returns the frame that entered a probe point. The candidates are `top` and the frames below it that share the
 * call's return slot and call site. If the function of `top` contains the call's code, one of the two is inlined
 * into the other, and the result is `top`; otherwise it is the frame below all frames that a jump has left behind. */
struct hook_frame *hooks_frames_inlining(const struct hook_thread *thread, struct hook_frame *top,
					 const struct hook_call *call);

/* Returns the frame that was on top when the jump's setjmp was called, if it lies in the run of `top` and below
 * `top`; else `top`, which is the last frame above the landing's stack pointer. */
struct hook_frame *hooks_frames_landing(struct hook_thread *thread, struct hook_frame *top,
					const struct hook_landing *landing);

/* Returns true if the hook of this call is not in the function's own code. */
bool hooks_is_inlined_code(const struct hook_call *call);

/* Returns true if a call with the call site of `top` calls a function that is inlined into the function of
 * `top`. */
bool hooks_is_inlined(const struct hook_thread *thread, const struct hook_frame *top, const struct hook_call *call);

/* Returns the path that is current for code at `pc` with this stack pointer. (A handler may have interrupted the
 * code.) */
struct tally_node *hooks_frames_current(const struct hook_thread *thread, uint64_t stack_pointer, uint64_t pc);

/* Writes the frame that is to be on top, after a handler has written another one there. */
void hooks_frame_push_again(struct hook_thread *thread, struct hook_frame *frame, struct tally_node *node,
			    uint64_t call_site, uint64_t return_slot);

/* Pushes a frame above `top`, for which there must be room. `node` and `guess` are nearly always there already and
 * are then not written again: a later read of them need not wait for the load that `node` came from. The last frame
 * that has room gets no guess, so a caller whose guess was right need not check for room. */
static inline __attribute__((always_inline)) void hooks_frame_push(struct hook_thread *thread, struct hook_frame *top,
								   struct tally_node *node, uint64_t call_site,
								   uint64_t return_slot)
{
	struct hook_frame *frame = top + 1;
	frame->return_slot = return_slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(frame->node != node, 0)) {
		frame->node = node;
		frame->guess = frame + 1 < thread->limit ? node->recent : &hooks_no_edge;
	}
	frame->call_site = call_site;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->top = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A handler that came between these stores has pushed a frame or a base here, with another return slot. */
	if (__builtin_expect(frame->return_slot != return_slot, 0))
		hooks_frame_push_again(thread, frame, node, call_site, return_slot);
}

/* --- paths: also used by measurements that count paths and do more --- */

/* As hooks_paths_entered, but returns the path that is current afterwards. */
struct tally_node *hooks_paths_count_entry(struct hook_thread *thread, uint64_t function, uint64_t call_site,
					   uint64_t return_slot);
void hooks_paths_entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
void hooks_paths_enter_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
			      uint64_t code);
void hooks_paths_leave_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
void hooks_paths_rewind(struct hook_thread *thread, const struct hook_landing *landing);

/* Returns true if the frame on top may be the caller of a function that is entered at `return_slot`: the slot lies
 * below the slot of the frame, or is equal to it and the function is inlined. */
static inline __attribute__((always_inline)) bool hooks_is_below(const struct hook_frame *top,
								 const struct tally_edge *edge, uint64_t return_slot)
{
	_Static_assert(TALLY_EDGE_INLINED < sizeof(uint64_t), "return slots are that far from each other");
	return top->return_slot + (edge->flags & TALLY_EDGE_INLINED) > return_slot;
}

/* Counts a call that was guessed right, which is the case nearly always. Returns false, and changes nothing, if it
 * was not. */
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

/* Returns true if a function that is left at `return_slot` may be the function of `top`, although the slots differ.
 * Compilers release a function's stack frame and then jump to the hook, where the call of the hook is the function's
 * last action. */
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

/* Charges the time since the last event to the current path. A handler that comes before last_ticks is read charges
 * the time itself, and nothing is left to charge. If it comes between that read and the store, the time is charged
 * twice. This is so rare that avoiding it would not justify a nanosecond for each call. */
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

/* Finds the position in the program: where a handler interrupted it or, if `context` is NULL, where it called this
 * library. */
void hooks_where(const void *context, uint64_t *pc, uint64_t *stack_pointer);

/* hook_measurement.tick for measurements with paths, which charges the current path; and for those without, which
 * charges the thread's root. */
void hooks_tick_current(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);
void hooks_tick_root(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);

/* --- members of hook_measurement that do nothing --- */

void hooks_no_call(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
void hooks_no_block(struct hook_thread *thread, uint64_t pc);
void hooks_no_rewind(struct hook_thread *thread, const struct hook_landing *landing);
void hooks_no_flush(struct hook_thread *thread);

#endif
