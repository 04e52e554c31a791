/* The part of cpprof/profiler.h for this processor. profiler.h includes it. A call that repeats an earlier call is
 * counted inline, in the program's own code. */
#ifndef CPPROF_X86_64_H
#define CPPROF_X86_64_H

#ifdef __GNUC__
#pragma GCC system_header
#endif

extern __attribute__((__visibility__("default"),
		      __tls_model__("initial-exec"))) __thread struct cpprof_thread *cpprof_thread_1;

/* With -masm=intel, gcc writes the size of a memory operand into the assembly; clang does not. */
#ifdef __clang__
#define CPPROF_QWORD_ "qword ptr "
#else
#define CPPROF_QWORD_ ""
#endif

/* The return slot of the function that contains the probe point, with the bits that the library sets for frames of
 * probe points. */
#define CPPROF_SLOT_OF_CALL_(frame_address) \
	((__UINT64_TYPE__)(frame_address) - sizeof(__UINT64_TYPE__) + CPPROF_SLOT_BITS_)

struct cpprof_frame *cpprof_probe_restore(struct cpprof_frame *frame, const struct cpprof_edge *edge,
					  __UINT64_TYPE__ return_slot)
	__attribute__((__visibility__("default"), __returns_nonnull__));

/* Charges the time since the last event to the current path, if calls are timed: up to the end of all instructions
 * before it (lfence), because the processor would read the time while they wait for their operands. It is one asm statement, because
 * compilers do not take that apart. */
static CPPROF_HOT void cpprof_charge(struct cpprof_thread *thread, struct cpprof_frame *current)
{
	__asm__ __volatile__("cmp{q $0, %0| " CPPROF_QWORD_ "%0, 0}\n\t"
			     "je 1f\n\t"
			     "lfence\n\t"
			     "rdtsc\n\t"
			     "shl{q $32, %%rdx| rdx, 32}\n\t"
			     "or{q %%rdx, %%rax| rax, rdx}\n\t"
			     "mov{q %0, %%rdx| rdx, %0}\n\t"
			     "cmp{q %%rdx, %%rax| rax, rdx}\n\t"
			     "jbe 1f\n\t"
			     "mov{q %%rax, %0| %0, rax}\n\t"
			     "sub{q %%rdx, %%rax| rax, rdx}\n\t"
			     "mov{q %1, %%rdx| rdx, %1}\n\t"
			     "add{q %%rax, %c2(%%rdx)| [rdx + %c2], rax}\n"
			     "1:"
			     : "+m"(thread->charged)
			     : "m"(current->node), "i"(__builtin_offsetof(struct cpprof_node, ticks))
			     : "rax", "rdx", "cc");
}

/* Counts the call if the thread guessed it as its next call, because it came next before. Returns the
 * frame of the caller, or NULL if it is another call. hooks_paths_enter_fast of the library explains what an
 * interrupting handler finds. The caller's frame is in a structure, as in struct cpprof_entry: gcc would warn that a
 * variable might be clobbered, in functions that call setjmp. */
static CPPROF_HOT struct cpprof_frame *cpprof_enter_guessed(struct cpprof_probe *probe, __UINT64_TYPE__ caller,
							    __UINT64_TYPE__ return_slot)
{
	struct cpprof_thread *thread = cpprof_thread_1;
	struct cpprof_entry entry;
	struct cpprof_frame *frame;
	struct cpprof_edge *edge;
	if (__builtin_expect(return_slot < thread->low, 0))
		return 0;
	entry.frame = thread->top;
	edge = entry.frame->guess;
	if (__builtin_expect(edge->function != (__UINT64_TYPE__)probe || edge->caller != caller ||
				     entry.frame->return_slot + (edge->flags & CPPROF_EDGE_INLINED_) <= return_slot,
			     0))
		return 0;
	frame = entry.frame + 1;
	if (__builtin_expect(frame->node != edge->child, 0)) {
		if (frame + 1 >= thread->limit)
			return 0;
		frame->node = edge->child;
		frame->guess = edge->child->recent;
	}
	__asm__ __volatile__("inc{q %0| " CPPROF_QWORD_ "%0}" : "+m"(edge->count));
	if (__builtin_expect(edge->after != edge, 0))
		entry.frame->guess = edge->after;
	frame->return_slot = return_slot;
	cpprof_charge(thread, entry.frame);
	frame->caller = caller;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->top = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A handler that ran before the frame was on top has overwritten it. */
	if (__builtin_expect(frame->node != edge->child, 0))
		return cpprof_probe_restore(frame, edge, return_slot);
	return entry.frame;
}

/* Entries and exits that are not counted inline. They are out of line, so that a probe point is small. */
CPPROF_ASIDE struct cpprof_frame *cpprof_entered_slowly(struct cpprof_probe *probe, void *const *frame_address)
{
	return cpprof_probe_enter_from(probe, frame_address[-1], frame_address, __builtin_return_address(0));
}

CPPROF_ASIDE void cpprof_left_slowly(struct cpprof_probe *probe, void *const *frame_address)
{
	cpprof_probe_leave(probe, frame_address[-1], frame_address);
}

/* Only the library sets CPPROF_STATE_ON. So this header does not access the thread's state before there is one: a resolver of an
 * IFUNC symbol may run so early. */
static CPPROF_HOT struct cpprof_frame *cpprof_enter_here(struct cpprof_probe *probe, __UINT32_TYPE__ state)
{
	struct cpprof_entry entry;
	entry.frame = 0;
	if (__builtin_expect(state == CPPROF_STATE_ON, 1))
		entry.frame = cpprof_enter_guessed(probe, (__UINT64_TYPE__)__builtin_return_address(0),
						   CPPROF_SLOT_OF_CALL_(__builtin_dwarf_cfa()));
	if (__builtin_expect(entry.frame == 0, 0) && state != CPPROF_STATE_OFF)
		entry.frame = cpprof_entered_slowly(probe, (void *const *)__builtin_dwarf_cfa());
	return entry.frame;
}

static CPPROF_HOT void cpprof_leave_here(struct cpprof_probe *probe, struct cpprof_frame *entered)
{
	struct cpprof_thread *thread = cpprof_thread_1;
	if (__builtin_expect(thread->top != entered + 1 ||
				     entered[1].return_slot != CPPROF_SLOT_OF_CALL_(__builtin_dwarf_cfa()),
			     0)) {
		cpprof_left_slowly(probe, (void *const *)__builtin_dwarf_cfa());
		return;
	}
	cpprof_charge(thread, entered + 1);
	thread->top = entered;
}

#endif
