#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

bool hooks_ready;

/* Its own address only after the dynamic linker has relocated this library. */
static const volatile void *const volatile relocated = &relocated;

/* The stack protector's value is in the control block. */
__attribute__((no_stack_protector)) void hooks_become_ready(void)
{
	if (relocated == &relocated && machine_has_thread_pointer() && hook_thread)
		hooks_ready = true;
}
