/* Functions that call each other: a cycle of two, and one of four with ways out of it and into it. */
#include "hooks.h"

static int is_odd(unsigned n);

static NOINLINE int is_even(unsigned n)
{
	int result = n == 0 ? 1 : is_odd(n - 1);
	return UNKNOWN(result);
}

static NOINLINE int is_odd(unsigned n)
{
	int result = n == 0 ? 0 : is_even(n - 1);
	return UNKNOWN(result);
}

static long visited;
static void expression(int depth);

static NOINLINE void literal(void)
{
	visited += UNKNOWN(1);
}

static NOINLINE void factor(int depth)
{
	if (depth > 0)
		expression(depth - 1);
	literal();
}

static NOINLINE void term(int depth)
{
	factor(depth);
	factor(depth / 2);
}

static NOINLINE void sum(int depth)
{
	term(depth);
	if (depth & 1)
		factor(depth - 1);
}

static NOINLINE void expression(int depth)
{
	sum(depth);
	term(depth / 3);
}

int main(void)
{
	for (unsigned n = 0; n < 40; n++)
		CHECK(is_even(n) == !(n & 1));
	expression(4);
	factor(3);
	CHECK(visited > 20);
	return 0;
}
