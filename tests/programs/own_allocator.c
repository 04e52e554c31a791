/* The malloc family, for a program that brings its own: it allocates memory and never reuses it. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "burn.h"

enum { ALIGNMENT = 16, HEADER = 16 };

static char memory[64 << 20] __attribute__((aligned(4096)));
static atomic_size_t used;

/* The size of each block is stored in front of it. */
static void *take(size_t alignment, size_t bytes)
{
	size_t wanted = bytes + alignment + HEADER;
	size_t from = atomic_fetch_add(&used, wanted);

	if (from + wanted > sizeof(memory))
		return NULL;
	uintptr_t at = ((uintptr_t)memory + from + HEADER + alignment - 1) / alignment * alignment;
	((size_t *)at)[-1] = bytes;
	return (void *)at;
}

static size_t align(size_t alignment)
{
	return alignment > ALIGNMENT ? alignment : ALIGNMENT;
}

void *malloc(size_t bytes)
{
	return take(ALIGNMENT, bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return take(ALIGNMENT, count * bytes);
}

void *realloc(void *old, size_t bytes)
{
	void *grown = take(ALIGNMENT, bytes);

	if (old && grown)
		memcpy(grown, old, ((size_t *)old)[-1] < bytes ? ((size_t *)old)[-1] : bytes);
	return grown;
}

void free(void *old)
{
	(void)old;
}

void *memalign(size_t alignment, size_t bytes)
{
	return take(align(alignment), bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return take(align(alignment), bytes);
}

int posix_memalign(void **result, size_t alignment, size_t bytes)
{
	*result = take(align(alignment), bytes);
	return *result ? 0 : 12;
}
