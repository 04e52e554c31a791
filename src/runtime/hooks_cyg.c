/* What gcc and clang call with -finstrument-functions: behind each function's prologue, and before it returns. */
#include "runtime/hooks.h"

void __cyg_profile_func_enter(void *function, void *site) __attribute__((visibility("default")));
void __cyg_profile_func_exit(void *function, void *site) __attribute__((visibility("default")));

/* The stack pointer of the function that calls the hook. */
#define PLACE ((uint64_t)(uintptr_t)__builtin_dwarf_cfa() | HOOK_FRAME_LEAVES)

void __cyg_profile_func_enter(void *function, void *site)
{
	struct hook_thread *thread = hook_thread;
	thread->measurement->enter(thread, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, PLACE);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	struct hook_thread *thread = hook_thread;
	thread->measurement->leave(thread, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, PLACE);
}
