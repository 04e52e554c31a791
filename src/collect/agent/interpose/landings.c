/* Where jumps will lead: what is called meanwhile in the same function is over then (hooks/jumps.c). In libcpprof-hooks.so alone. */
#include <setjmp.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/stands_before.h"

/* The processor's landing_calls.c goes on with what these return. */
#define LANDING(function)                                                                                           \
	void *landing_by_##function(const struct __jmp_buf_tag *buffer);                                            \
	void *landing_by_##function(const struct __jmp_buf_tag *buffer)                                             \
	{                                                                                                           \
		const struct hook_landing landing = { STANDS_BEFORE_STACK_POINTER(__builtin_dwarf_cfa()), buffer }; \
		hooks_remember(&landing);                                                                           \
		return (void *)(uintptr_t)REAL_ADDRESS(function);                                                   \
	}

LANDING(setjmp)
LANDING(_setjmp)
LANDING(__sigsetjmp)
