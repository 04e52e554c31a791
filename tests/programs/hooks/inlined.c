/* Small functions that the compiler inlines: hooks that it inserts before inlining count each call as it is written. */
#include "hooks.h"

static inline long increment(long n)
{
	return UNKNOWN(n) + 1;
}

static inline long twice(long n)
{
	return increment(n) + increment(n);
}

static long pick(long n, int which)
{
	if (which == 0)
		return twice(n);
	return which == 1 ? increment(n) : n;
}

static inline long countdown(long n)
{
	long sum = 0;
	for (; n > 0; n--)
		sum += pick(n, 2 - (int)(n & 1));
	return sum;
}

static NOINLINE long outer(long n)
{
	return pick(n, 0) + pick(n, 1) + countdown(n);
}

int main(void)
{
	long sum = 0;
	for (long i = 0; i < 25; i++)
		sum += outer(i) + pick(i, (int)UNKNOWN(i) % 3);
	CHECK(sum > 0);
	return 0;
}
