/* The allocating functions. Calls inside the C library and the C++ library go
 * through them too: strdup, operator new. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "collect/agent/wrap/wrap.h"

/* Called while this thread looks up the real functions. The look-up works without the memory. */
static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

#define ALLOCATING(name, parameters, arguments)                \
	WRAP_PROBE(name##_probe, #name, CPPROF_KIND_FUNCTION); \
	INTERPOSED void *name parameters                       \
	{                                                      \
		__typeof__(&name) real = REAL(name);           \
		if (__builtin_expect(!real, 0))                \
			return no_memory();                    \
		WRAP_ENTER(name##_probe);                      \
		return real arguments;                         \
	}

ALLOCATING(malloc, (size_t bytes), (bytes))
ALLOCATING(calloc, (size_t count_of, size_t bytes), (count_of, bytes))
ALLOCATING(realloc, (void *memory_was, size_t bytes), (memory_was, bytes))
ALLOCATING(reallocarray, (void *memory_was, size_t count_of, size_t bytes), (memory_was, count_of, bytes))
ALLOCATING(memalign, (size_t alignment, size_t bytes), (alignment, bytes))
ALLOCATING(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
ALLOCATING(valloc, (size_t bytes), (bytes))
ALLOCATING(pvalloc, (size_t bytes), (bytes))

WRAP_PROBE(posix_memalign_probe, "posix_memalign", CPPROF_KIND_FUNCTION);
INTERPOSED int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	__typeof__(&posix_memalign) real = REAL(posix_memalign);
	if (!real)
		return ENOMEM;
	WRAP_ENTER(posix_memalign_probe);
	return real(memory, alignment, bytes);
}

WRAP_PROBE(free_probe, "free", CPPROF_KIND_FUNCTION);
INTERPOSED void free(void *memory)
{
	__typeof__(&free) real = REAL(free);
	/* NULL only during the look-up: the real function has not allocated this memory. */
	if (__builtin_expect(!real, 0))
		return;
	WRAP_ENTER(free_probe);
	real(memory);
}
