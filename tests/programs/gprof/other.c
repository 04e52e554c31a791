#include "shared.h"

static volatile long sink;

/* expressions.c has a function of this name too. */
static int compare(int a, int b)
{
	return a < b ? a : b;
}

int other(int n)
{
	for (int i = 0; i < 100; i++)
		sink += mixed(compare(i, n));
	return n;
}

int unused(int n)
{
	return other(n) + compare(n, 3);
}
