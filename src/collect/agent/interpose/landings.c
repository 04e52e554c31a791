/* Calls of setjmp, where later jumps lead: hooks_store_jump records them, so that a jump ends the probe points that
 * the same function has entered since (hooks/jumps.c). In libcpprof-hooks.so only. */
#include <setjmp.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/stands_before.h"

/* landing_calls.c of the processor calls these functions and jumps to the address that they return. */
#define LANDING(function)                                                                                           \
	void *landing_by_##function(const struct __jmp_buf_tag *buffer);                                            \
	void *landing_by_##function(const struct __jmp_buf_tag *buffer)                                             \
	{                                                                                                           \
		const struct hook_landing landing = { STANDS_BEFORE_STACK_POINTER(__builtin_dwarf_cfa()), buffer }; \
		hooks_store_jump(&landing);                                                                         \
		return (void *)(uintptr_t)REAL_ADDRESS(function);                                                   \
	}

LANDING(setjmp)
LANDING(_setjmp)
LANDING(__sigsetjmp)
