/* The functions that the objects of cpprof/profiler.h call when a probe point is entered or left and the inline code
 * does not count it. */
#include <cpprof/profiler.h>

#include "collect/agent/hooks/paths.h"
#include "collect/agent/hooks/tally.h"
#include "collect/agent/hooks/trace.h"
#include "collect/agent/probes/registry.h"

#define AT(type, member, ours, its) \
	_Static_assert(offsetof(struct cpprof_##type, member) == offsetof(struct ours, its), "as in profiler.h")
AT(node, function, tally_node, function);
AT(node, recent, tally_node, recent);
AT(edge, caller, tally_edge, call_site);
AT(edge, function, tally_edge, function);
AT(edge, count, tally_edge, count);
AT(edge, child, tally_edge, child);
AT(edge, flags, tally_edge, flags);
AT(edge, after, tally_edge, after);
AT(frame, node, hook_frame, node);
AT(frame, return_slot, hook_frame, return_slot);
AT(frame, caller, hook_frame, call_site);
AT(frame, guess, hook_frame, guess);
AT(thread, top, hook_thread, top);
AT(thread, low, hook_thread, direct_low);
AT(thread, limit, hook_thread, limit);
AT(thread, charged, hook_thread, last_ticks);
AT(node, ticks, tally_node, exclusive_ticks);
_Static_assert(sizeof(struct cpprof_frame) == sizeof(struct hook_frame) && CPPROF_EDGE_INLINED_ == TALLY_EDGE_INLINED &&
		       CPPROF_SLOT_BITS_ == (HOOK_FRAME_LEAVES | HOOK_FRAME_PROBE),
	       "as in profiler.h");

/* Returns the address of the return slot of the function that contains the object, with the bits of a probe point's
 * frame. The slot is below the caller's part of the stack, so the frame has its position between the frames of the other
 * hooks. */
static uint64_t return_slot_of(const void *frame_address)
{
	return ((uint64_t)(uintptr_t)frame_address - sizeof(uint64_t)) | HOOK_FRAME_LEAVES | HOOK_FRAME_PROBE;
}

/* For objects whose compiler provides neither caller nor frame (compilers other than gcc and clang). The stack
 * pointer at the call replaces the frame: it is below the frames of the function's callers, and above the frames of its
 * callees. The eight bytes above it are not a return slot of the function, so its slot stays above the slots of its
 * callees. */
#define UNKNOWN_CALLER_S(stack_pointer) ((const char *)(stack_pointer) + sizeof(uint64_t))

/* Returns whether nothing will ever be counted in this process: then the probe point can be switched off. */
static bool never_counts(void)
{
	return hooks_have_begun() && (!hooks.header || hooks.measurement == &hooks_off);
}

/* The address range of this library, or of the whole program if libcpprof.a is linked into it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool is_within(const void *address)
{
	return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* Returns whether this library is the caller. The program may define its own memcpy or getenv, with an object in it:
 * that would be entered while another probe point is, and recursively; and these are not calls of the program. */
static inline bool is_called_here(const struct cpprof_probe *descriptor, const void *caller)
{
	return __builtin_expect(is_within(caller), 0) && !is_within(descriptor);
}

/* Returns whether the thread writes a trace. The inline code does not do that: it calls the library each time. */
static inline bool is_traced(const struct hook_thread *thread)
{
	return thread->measurement == &hooks_trace;
}

static inline __attribute__((always_inline)) struct cpprof_frame *enter(struct cpprof_probe *descriptor,
									const void *caller, const void *frame_address,
									uint64_t code)
{
	if (!hooks_are_ready() || is_called_here(descriptor, caller))
		return NULL;
	struct hook_thread *thread = hook_thread;
	if (is_traced(thread) && __atomic_load_n(&descriptor->state, __ATOMIC_RELAXED) == CPPROF_STATE_ON) {
		hooks_trace_enter(thread, (uint64_t)(uintptr_t)descriptor, (uint64_t)(uintptr_t)caller,
				  return_slot_of(frame_address), code);
		return CPPROF_FRAME_UNKNOWN;
	}
	if (thread == &hooks_none)
		thread = hooks_thread_begin();
	if (thread->measurement == &hooks_off) {
		if (never_counts())
			__atomic_store_n(&descriptor->state, CPPROF_STATE_OFF, __ATOMIC_RELAXED);
		return NULL;
	}
	if (__atomic_load_n(&descriptor->state, __ATOMIC_ACQUIRE) == CPPROF_STATE_NEW)
		probes_register(descriptor, code);
	if (__atomic_load_n(&descriptor->state, __ATOMIC_RELAXED) != CPPROF_STATE_ON)
		return NULL;
	thread->measurement->enter(thread, (uint64_t)(uintptr_t)descriptor, (uint64_t)(uintptr_t)caller,
				   return_slot_of(frame_address), code);
	bool may_leave_direct =
		thread->direct_low != UINT64_MAX && thread->top->node->function == (uint64_t)(uintptr_t)descriptor;
	return may_leave_direct ? (struct cpprof_frame *)(thread->top - 1) : CPPROF_FRAME_UNKNOWN;
}

HOOK_HOT struct cpprof_frame *cpprof_probe_enter(struct cpprof_probe *descriptor, const void *caller,
						 const void *frame_address)
{
	uint64_t code = (uint64_t)(uintptr_t)__builtin_return_address(0);
	if (__builtin_expect(!caller, 0))
		frame_address = UNKNOWN_CALLER_S(__builtin_dwarf_cfa());
	return enter(descriptor, caller, frame_address, code);
}

struct cpprof_frame *cpprof_probe_enter_from(struct cpprof_probe *descriptor, const void *caller,
					     const void *frame_address, const void *code)
{
	return enter(descriptor, caller, frame_address, (uint64_t)(uintptr_t)code);
}

struct cpprof_frame *cpprof_probe_restore(struct cpprof_frame *frame, const struct cpprof_edge *edge,
					  uint64_t return_slot)
{
	*(struct hook_frame *)frame =
		(struct hook_frame){ (struct tally_node *)edge->child, return_slot, edge->caller, &hooks_no_edge };
	return CPPROF_FRAME_UNKNOWN;
}

HOOK_HOT void cpprof_probe_leave(struct cpprof_probe *descriptor, const void *caller, const void *frame_address)
{
	if (__builtin_expect(!caller, 0))
		frame_address = UNKNOWN_CALLER_S(__builtin_dwarf_cfa());
	struct hook_thread *thread = hook_thread;
	if (is_traced(thread)) {
		hooks_trace_leave(thread, (uint64_t)(uintptr_t)descriptor, (uint64_t)(uintptr_t)caller,
				  return_slot_of(frame_address));
		return;
	}
	thread->measurement->leave(thread, (uint64_t)(uintptr_t)descriptor, (uint64_t)(uintptr_t)caller,
				   return_slot_of(frame_address));
}

void cpprof_probe_block(struct cpprof_probe *descriptor, const void *caller, const void *frame_address)
{
	if (enter(descriptor, caller, frame_address, (uint64_t)(uintptr_t)__builtin_return_address(0)))
		cpprof_probe_leave(descriptor, caller, frame_address);
}
