/* Recursion through functions off the path, constant parameters that are compared, and functions that are used before their
 * definitions. */
#include <stdio.h>
#include <stdlib.h>

typedef int visit(int depth, int value);

int parse(int depth, visit *f);

/* A comment
 * of two lines. */
static int group(int depth, visit *f)
{
	return depth > 0 ? parse(depth - 1, f) + 1 : f(depth, 2);
}

static int helper(int depth, visit *f)
{
	if (f == NULL)
		return 0;
	return group(depth, f) * 2;
}

int parse(int depth, visit *f)
{
	int x = helper(depth, f);
	if (depth > 3)
		x += parse(depth - 2, f);
	return x + f(depth, x);
}

static int twice(int depth, int value)
{
	return value * 2 + depth;
}
static int plus(int depth, int value)
{
	return value + depth;
}

static int a(int n)
{
	return parse(n, twice);
}
static int b(int n)
{
	return parse(n, plus);
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d %d\n", a(8 + argc), b(7 + argc));
	return 0;
}
