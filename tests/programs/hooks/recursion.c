/* Functions that call themselves: from two call sites, and in arguments of their own calls. */
#include "hooks.h"

static NOINLINE long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOINLINE long ackermann(long m, long n)
{
	if (m == 0)
		return n + 1;
	return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static NOINLINE void hanoi(int n, int from, int to, long *moves)
{
	if (n == 0)
		return;
	hanoi(n - 1, from, 6 - from - to, moves);
	++*moves;
	hanoi(n - 1, 6 - from - to, to, moves);
}

int main(void)
{
	long moves = 0;
	CHECK(fibonacci(UNKNOWN(17L)) == 1597);
	CHECK(ackermann(UNKNOWN(2L), 6) == 15);
	hanoi(9, 1, 3, &moves);
	CHECK(moves == 511);
	return 0;
}
