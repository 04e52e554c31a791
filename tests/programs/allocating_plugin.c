/* A library whose only function allocates once. */
#include "burn.h"

void plugin_allocate(void);

NOINLINE void plugin_allocate(void)
{
	free(malloc(100));
}
