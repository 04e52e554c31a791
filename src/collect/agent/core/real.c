/* Looks up the functions of real.h with dlsym. */
#include "collect/agent/core/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#include "collect/agent/core/defined.h"

/* The linker defines these for the section that contains the slots. */
extern struct real_slot __start_cpprof_real[] __attribute__((visibility("hidden")));
extern struct real_slot __stop_cpprof_real[] __attribute__((visibility("hidden")));

static _Thread_local bool is_looking_up;
static bool was_looked_up;

void *real_dlsym(void)
{
	static void *found;
	void *function = __atomic_load_n(&found, __ATOMIC_RELAXED);
	bool is_behind = !function && defined_somewhere("dlsym", true);
	if (!function && is_behind)
		function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!function && is_behind)
		function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!function)
		function = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.34");
	__atomic_store_n(&found, function, __ATOMIC_RELAXED);
	return function;
}

/* A look-up that failed: the C library has an error message for dlerror. */
static bool has_failed;

/* The real dlsym searches behind the object of its caller, which is this library. */
static void *resolve(void *where, const struct real_slot *slot)
{
	void *(*look_up)(void *, const char *) = (void *(*)(void *, const char *))real_dlsym();
	if (!defined_somewhere(slot->name, where == RTLD_NEXT))
		return NULL;
	void *found = slot->version ? dlvsym(where, slot->name, slot->version) : NULL;
	has_failed |= slot->version && !found;
	if (found || !look_up)
		return found;
	found = look_up(where, slot->name);
	has_failed |= !found;
	return found;
}

static bool is_ours(const void *function)
{
	struct dl_find_object its, ours;
	return _dl_find_object((void *)(uintptr_t)function, &its) == 0 &&
	       _dl_find_object((void *)(uintptr_t)&resolve, &ours) == 0 && its.dlfo_link_map == ours.dlfo_link_map;
}

/* If this library is loaded behind the C library (as a library that a preloaded one needs is), RTLD_NEXT does not
 * find the C library's functions: then search from the start. Returns NULL if only our own function is found. */
static void *next(const struct real_slot *slot)
{
	void *found = resolve(RTLD_NEXT, slot);
	if (!found)
		found = resolve(RTLD_DEFAULT, slot);
	return found && !is_ours(found) ? found : NULL;
}

/* Several threads may do this at the same time: all find the same. */
static void resolve_all(void)
{
	is_looking_up = true;
	for (struct real_slot *slot = __start_cpprof_real; slot < __stop_cpprof_real; slot++) {
		void *found = next(slot);
		__atomic_store_n(&slot->function, found, __ATOMIC_RELAXED);
	}
	/* Clears the error, so that the program's dlerror does not return ours. */
	if (has_failed)
		(void)dlerror();
	is_looking_up = false;
	__atomic_store_n(&was_looked_up, true, __ATOMIC_RELEASE);
}

bool real_functions_are_known(void)
{
	return __atomic_load_n(&was_looked_up, __ATOMIC_ACQUIRE);
}

void *real_resolve(struct real_slot *slot)
{
	if (!is_looking_up && !__atomic_load_n(&was_looked_up, __ATOMIC_ACQUIRE)) {
		int error = errno;
		resolve_all();
		errno = error;
	}
	return __atomic_load_n(&slot->function, __ATOMIC_RELAXED);
}

bool real_find_object(uint64_t address, struct dl_find_object *found)
{
	return _dl_find_object((void *)(uintptr_t)address, found) == 0;
}

__attribute__((constructor)) static void resolve_before_handlers(void)
{
	if (!was_looked_up)
		(void)real_resolve(__start_cpprof_real);
}
