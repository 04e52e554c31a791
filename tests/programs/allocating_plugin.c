/* A library whose only function allocates once; with OWN_MALLOC, by an allocator of its own where the dynamic linker prefers that. */
#include "burn.h"

#ifdef OWN_MALLOC
void *malloc(size_t bytes)
{
	static char memory[1 << 12];
	static size_t used;
	char *start = memory + used;
	used += (bytes + 15) & ~(size_t)15;
	return used <= sizeof(memory) ? start : NULL;
}

void free(void *memory)
{
	(void)memory;
}
#endif

void plugin_allocate(void);

NOINLINE void plugin_allocate(void)
{
	free(malloc(100));
}
