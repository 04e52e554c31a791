/* The hooks of -finstrument-functions: gcc and clang call them behind each function's prologue, and before it
 * returns. */
#include "collect/agent/hooks/paths.h"
#include "collect/agent/hooks/trace.h"

void __cyg_profile_func_enter(void *called, void *caller) __attribute__((visibility("default")));
void __cyg_profile_func_exit(void *called, void *caller) __attribute__((visibility("default")));

/* The stack pointer of the function that calls the hook. */
#define RETURN_SLOT ((uint64_t)(uintptr_t)__builtin_dwarf_cfa() | HOOK_FRAME_LEAVES)
#define CODE ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* Compares with the measurements of each call first: an indirect call, whose address must be read before, costs as
 * much as one of them does. */
HOOK_HOT void __cyg_profile_func_enter(void *called, void *caller)
{
	if (!hooks_are_ready())
		return;
	struct hook_thread *thread = hook_thread;
	const struct hook_measurement *measurement = thread->measurement;
	uint64_t function = (uint64_t)(uintptr_t)called, call_site = (uint64_t)(uintptr_t)caller;
	if (__builtin_expect(measurement == &hooks_paths, 1)) {
		hooks_paths_enter(thread, function, call_site, RETURN_SLOT, CODE);
	} else if (__builtin_expect(measurement == &hooks_paths_timed, 1)) {
		hooks_paths_charge(thread);
		hooks_paths_enter(thread, function, call_site, RETURN_SLOT, CODE);
	} else if (measurement == &hooks_trace) {
		hooks_trace_enter(thread, function, call_site, RETURN_SLOT, CODE);
	} else if (measurement != &hooks_off) {
		measurement->enter(thread, function, call_site, RETURN_SLOT, CODE);
	}
}

HOOK_HOT void __cyg_profile_func_exit(void *called, void *caller)
{
	if (!hooks_are_ready())
		return;
	struct hook_thread *thread = hook_thread;
	const struct hook_measurement *measurement = thread->measurement;
	uint64_t function = (uint64_t)(uintptr_t)called, call_site = (uint64_t)(uintptr_t)caller;
	if (__builtin_expect(measurement == &hooks_paths, 1)) {
		hooks_paths_leave(thread, function, call_site, RETURN_SLOT);
	} else if (__builtin_expect(measurement == &hooks_paths_timed, 1)) {
		hooks_paths_charge(thread);
		hooks_paths_leave(thread, function, call_site, RETURN_SLOT);
	} else if (measurement == &hooks_trace) {
		hooks_trace_leave(thread, function, call_site, RETURN_SLOT);
	} else if (measurement != &hooks_off) {
		measurement->leave(thread, function, call_site, RETURN_SLOT);
	}
}
