/* The library of library.c. */
#include "library.h"

#include "hooks.h"

static long constructed;

__attribute__((constructor)) static NOINLINE void library_begins(void)
{
	constructed = 1;
}

__attribute__((destructor)) static NOINLINE void library_ends(void)
{
	constructed = 0;
}

long replaced(long n)
{
	return n;
}

static NOINLINE long library_inner(int n, void (*callback)(int))
{
	callback(n);
	return replaced(n);
}

long library_sum(int n, void (*callback)(int))
{
	long sum = 0;
	CHECK(constructed);
	for (int i = 0; i < n; i++)
		sum += library_inner(i, callback);
	return sum;
}
