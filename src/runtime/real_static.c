/*
 * real.h for libcpprof.a: in a program that is linked statically nothing stands before the C library's functions, and there is
 * no dlsym that would find them; those that the library itself asks for are named here.
 */
#include "runtime/real.h"

#include <signal.h>
#include <string.h>

static const struct {
	const char *name;
	void *function;
} functions[] = {
	{ "sigaction", (void *)sigaction },
};

void *real_look_up(struct real_slot *slot)
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

void *real_dlsym(void)
{
	return NULL;
}
