/* Functions that call functions, some of them from two places of one function and some through a pointer. */
#include "hooks.h"

static long sum;

static NOINLINE void leaf(int n)
{
	sum += UNKNOWN(n);
}

static NOINLINE void twice(int n)
{
	leaf(n);
	leaf(-n);
}

static NOINLINE void branch(int n, void (*callee)(int))
{
	for (int i = 0; i < n; i++)
		callee(i);
	twice(n);
}

static int small(int n)
{
	return UNKNOWN(n) + 1;
}

static NOINLINE void trunk(int n)
{
	for (int i = 0; i < n; i++) {
		branch(i, leaf);
		branch(i, twice);
		sum += small(i);
	}
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		trunk(20);
	CHECK(sum != 0);
	return 0;
}
