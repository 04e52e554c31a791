/* GNU C's nested functions: they receive their frame's address in a register that other calls do not use, are
 * called through code on the stack, and may jump into the function around them. */
#include "hooks.h"

static NOINLINE void apply(void (*callee)(int), int times)
{
	for (int i = 0; i < times; i++)
		callee(i);
}

static NOINLINE long sum_to(int n)
{
	long sum = 0;
	NOINLINE void add(int i)
	{
		sum += UNKNOWN(i);
	}
	apply(add, n);
	add(n);
	return sum;
}

static NOINLINE int find(int wanted)
{
	__label__ found;
	int where = -1;
	NOINLINE void look(int i)
	{
		if (i == wanted) {
			where = i;
			goto found;
		}
	}
	apply(look, 10);
found:
	return where;
}

static NOINLINE int deep(int n)
{
	NOINLINE int below(int m)
	{
		return m == 0 ? n : below(m - 1) + 1;
	}
	return below(n);
}

int main(void)
{
	for (int n = 0; n < 20; n++) {
		CHECK(sum_to(n) == n * (n + 1) / 2);
		CHECK(find(n) == (n < 10 ? n : -1));
		CHECK(deep(n) == 2 * n);
	}
	return 0;
}
