/*
 * Ends work of the library that does not return: a handler of the program has interrupted it and leaves by a jump,
 * an exception or another context. All work is done in the frames of one function and of its callees, so it is over
 * when the thread is above them. Jumps report their destination (interpose/jumps.c); the next tick, or the next call
 * of ours above the frame, detects all other cases.
 */
#include <sys/syscall.h>

#include "collect/agent/core/runtime.h"
#include "processor/agent/machine.h"

static bool is_within(const stack_t *stack, uint64_t address)
{
	return address - (uint64_t)(uintptr_t)stack->ss_sp < stack->ss_size;
}

bool runtime_is_gone(uint64_t frame, uint64_t stack_pointer)
{
	stack_t alternate = { .ss_size = 0 };
	if (machine_syscall(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0) < 0 || alternate.ss_flags & SS_DISABLE)
		return stack_pointer > frame;
	bool was_on_alternate = is_within(&alternate, frame);
	if (was_on_alternate != is_within(&alternate, stack_pointer))
		return was_on_alternate;
	return stack_pointer > frame;
}

void runtime_abandon(struct runtime_thread *thread, uint64_t stack_pointer)
{
	if (thread->depth && runtime_is_gone(thread->outer_frame, stack_pointer)) {
		thread->alloc_lanes = thread->outer_lanes;
		thread->depth = 0;
	}
	if (thread->busy > RUNTIME_HELD && runtime_is_gone(thread->busy, stack_pointer))
		thread->busy = 0;
}

bool runtime_is_at_work(struct runtime_thread *thread, uint64_t stack_pointer)
{
	runtime_abandon(thread, stack_pointer);
	return thread->busy != 0;
}
