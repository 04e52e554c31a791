/* The plugin of plugins.c. */
#include "hooks.h"

static long constructed;

__attribute__((constructor)) static NOINLINE void plugin_begins(void)
{
	constructed++;
}

__attribute__((destructor)) static NOINLINE void plugin_ends(void)
{
	constructed--;
}

static NOINLINE long plugin_inner(int n)
{
	return UNKNOWN(n) * constructed;
}

long plugin_work(int n)
{
	return plugin_inner(n) + plugin_inner(n);
}
