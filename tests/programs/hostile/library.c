/* The library that inside_dlopen loads and unloads: it works in a frame of its own, and its destructor reports
 * that it ran. */
#include "../burn.h"

int answer(int question);

static int *unloaded;

NOINLINE int answer(int question)
{
	burn(30);
	return question * 3 + 1;
}

void count_unloading(int *counter);

void count_unloading(int *counter)
{
	unloaded = counter;
}

__attribute__((destructor)) static void unload(void)
{
	if (unloaded)
		++*unloaded;
}
