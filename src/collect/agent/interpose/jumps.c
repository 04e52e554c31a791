/*
 * Jumps over frames. A jump ends everything below its destination on the stack: calls that have not returned
 * (hooks), the agent's work that a handler has interrupted, and waits. It also changes the mask of signals.
 */
#include <setjmp.h>
#include <ucontext.h>

#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/signals/signals.h"
#include "collect/agent/signals/waits.h"
#include "processor/agent/machine.h"

_Noreturn void __longjmp_chk(struct __jmp_buf_tag target[1], int value);

static void leave_to(struct hook_landing landing)
{
	if (runtime_thread)
		runtime_abandon(runtime_thread, landing.stack_pointer);
	waits_abandon();
	hooks_rewind(&landing);
}

static void leave(struct __jmp_buf_tag *target)
{
	leave_to((struct hook_landing){ machine_stack_pointer_of_jump(target), target });
	if (target->__mask_was_saved)
		signals_jump((sigset_t *)(void *)&target->__saved_mask);
}

/* jump_calls.c of the processor calls these functions and jumps to the address that they return. */
#define JUMP(function)                                             \
	void *jumping_by_##function(struct __jmp_buf_tag *target); \
	void *jumping_by_##function(struct __jmp_buf_tag *target)  \
	{                                                          \
		leave(target);                                     \
		return (void *)(uintptr_t)REAL_ADDRESS(function);  \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

INTERPOSED int setcontext(const ucontext_t *target)
{
	leave_to((struct hook_landing){ machine_stack_pointer_of(target), NULL });
	return REAL(setcontext)(target);
}
