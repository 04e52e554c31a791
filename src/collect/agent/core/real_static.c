/*
 * real.h for libcpprof.a. In a statically linked program no definition comes before the C library's functions, and
 * there is no dlsym to find them. This file lists those that the library itself needs.
 */
#include "collect/agent/core/defined.h"
#include "collect/agent/core/real.h"

#include <signal.h>
#include <string.h>

static const struct {
	const char *name;
	void *function;
} functions[] = {
	{ "sigaction", (void *)sigaction },
};

void *real_resolve(struct real_slot *slot)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strcmp(slot->name, functions[i].name) == 0)
			slot->function = functions[i].function;
	return slot->function;
}

bool real_functions_are_known(void)
{
	return true;
}

bool defined_program_uses(const char *name)
{
	(void)name;
	return false;
}

void *real_dlsym(void)
{
	return NULL;
}

/* False until constructors run. Before that, the C library builds its own table of objects: it allocates with the
 * program's malloc, if there is one, which may have hooks, and does not expect calls of _dl_find_object then. The
 * accesses are atomic because clang executes a constructor of plain stores when it compiles. */
static bool objects_are_known;

__attribute__((constructor)) static void objects_become_known(void)
{
	__atomic_store_n(&objects_are_known, true, __ATOMIC_RELAXED);
}

bool real_find_object(uint64_t address, struct dl_find_object *found)
{
	return __atomic_load_n(&objects_are_known, __ATOMIC_RELAXED) &&
	       _dl_find_object((void *)(uintptr_t)address, found) == 0;
}
