/*
 * The hooks of basic blocks. gcc -fsanitize-coverage=trace-pc calls the first one. clang
 * -fsanitize-coverage=trace-pc-guard calls the second one; when a program or a library is loaded, it also passes an
 * array for the numbers of the blocks and, with pc-table, a table of the blocks. Both kinds of hooks identify a
 * block by their return address. src/collect/count/ reads from the code itself which blocks there are, executed or
 * not.
 *
 * The hooks are called like any function: the compiler has saved the registers that a call may change.
 */
#include <stdint.h>

#include "collect/agent/hooks/blocks.h"

#define HOOK __attribute__((visibility("default")))

HOOK void __sanitizer_cov_trace_pc(void);
HOOK void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
HOOK void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
HOOK void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end);

static inline __attribute__((always_inline)) void count(uint64_t pc, enum tally_hook hook)
{
	if (!hooks_are_ready())
		return;
	struct hook_thread *thread = hook_thread;
	if (__builtin_expect(thread->measurement != &hooks_blocks, 0)) {
		if (thread->measurement != &hooks_off)
			hooks_block_unmeasured(thread, pc, hook);
	} else if (__builtin_expect(!hooks_block_count(thread, pc), 0)) {
		hooks_block_count_slowly(thread, pc, hook);
	}
}

void __sanitizer_cov_trace_pc(void)
{
	count((uint64_t)(uintptr_t)__builtin_return_address(0), TALLY_HOOK_BLOCK);
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	(void)guard;
	count((uint64_t)(uintptr_t)__builtin_return_address(0), TALLY_HOOK_GUARD);
}

/* The numbers stay 0, because the hooks do not use them. */
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
	(void)start;
	(void)end;
}

void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end)
{
	(void)start;
	(void)end;
}
