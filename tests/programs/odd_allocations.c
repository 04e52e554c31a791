/* Allocations of 0 bytes, of nearly and of more than the address space, and of overflowing products; before main and
 * after it. */
#include <errno.h>
#include <stdint.h>

#include "burn.h"

static const unsigned long long TOO_MANY = 1ull << 47;
static volatile size_t half = SIZE_MAX / 2 + 1;

NOINLINE static void use(void *memory)
{
	if (memory)
		*(volatile char *)memory = 1;
	free(memory);
}

__attribute__((constructor)) NOINLINE static void before_main(void)
{
	use(malloc(10));
	use(calloc(3, 5));
}

__attribute__((destructor)) NOINLINE static void behind_main(void)
{
	use(malloc(7));
}

NOINLINE static void refuse(void *memory)
{
	if (memory || errno != ENOMEM)
		exit(1);
	errno = 0;
}

NOINLINE static void odd(void)
{
	free(malloc(0));
	errno = 0;
	refuse(malloc(TOO_MANY - 1)); /* fails, and counts: it could be a size */
	refuse(malloc(TOO_MANY));     /* no size: counts no bytes, nor do the next three */
	refuse(malloc(1ull << 62));
	refuse(malloc(SIZE_MAX));
	refuse(calloc(half, 2));
	refuse(reallocarray(NULL, half, 2)); /* requests nothing of the allocator: counts as no call */
	free(reallocarray(NULL, 6, 7));
	void *shrunk = realloc(malloc(100), 30);
	if (realloc(shrunk, 0))
		exit(1);
}

int main(void)
{
	odd();
	amount("allocs", "before_main", 2);
	amount("alloc-bytes", "before_main", 10 + 15);
	amount("allocs", "odd", 10);
	amount("alloc-bytes", "odd", TOO_MANY - 1 + 6 * 7 + 100 + 30);
	amount("allocs", "behind_main", 1);
	amount("alloc-bytes", "behind_main", 7);
	return 0;
}
