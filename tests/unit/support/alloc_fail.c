#include "alloc_fail.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

/* Allocations up to and including the allocation that fails; 0 or less: it has failed, or injection is off. */
static atomic_long left;
static atomic_bool failed;

void alloc_fail_start(unsigned long number)
{
	atomic_store(&failed, false);
	atomic_store(&left, (long)number);
}

bool alloc_fail_stop(void)
{
	atomic_store(&left, 0);
	return atomic_load(&failed);
}

static bool is_the_one(void)
{
	if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
		return false;
	atomic_store(&failed, true);
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return is_the_one() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_the_one() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_the_one() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return is_the_one() ? NULL : __real_aligned_alloc(alignment, size);
}
