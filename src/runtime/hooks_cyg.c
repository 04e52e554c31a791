/* What gcc and clang call with -finstrument-functions: behind each function's prologue, and before it returns. */
#include "runtime/hooks_paths.h"

void __cyg_profile_func_enter(void *function, void *site) __attribute__((visibility("default")));
void __cyg_profile_func_exit(void *function, void *site) __attribute__((visibility("default")));

/* The stack pointer of the function that calls the hook. */
#define PLACE ((uint64_t)(uintptr_t)__builtin_dwarf_cfa() | HOOK_FRAME_LEAVES)

/* The usual measurement is asked for first: a jump by an address that is not known costs more than all that it does. */
void __cyg_profile_func_enter(void *function, void *site)
{
	struct hook_thread *thread = hook_thread;
	const struct hook_measurement *measurement = thread->measurement;
	if (__builtin_expect(measurement == &hooks_paths, 1))
		hooks_paths_enter(thread, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, PLACE);
	else
		measurement->enter(thread, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, PLACE);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	struct hook_thread *thread = hook_thread;
	const struct hook_measurement *measurement = thread->measurement;
	if (__builtin_expect(measurement == &hooks_paths, 1))
		hooks_paths_leave(thread, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, PLACE);
	else
		measurement->leave(thread, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, PLACE);
}
