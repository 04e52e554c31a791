/* Functions inlined three deep, in two callers, next to functions that are called. */
#include "mark.h"
#include <stdlib.h>

volatile int sink;

INLINE int inner(int x)
{
	MARK(1);
	return x * 3 + sink;
}

INLINE int middle(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++) {
		int half = i / 2;
		sum += inner(half); /* call inner */
	}
	return sum;
}

NOINLINE static int helper(int x)
{
	MARK(2);
	return x + sink;
}

NOINLINE int outer(int x)
{
	int sum = middle(x); /* call middle */
	MARK(3);
	return sum + helper(x); /* call helper */
}

static int compare(const void *a, const void *b)
{
	MARK(4);
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int numbers[] = { argc, 3, 1, 2 };
	(void)argv;
	qsort(numbers, 4, sizeof(int), compare);
	MARK(5);
	return outer(numbers[0]) + middle(numbers[1]); /* call middle from main */
}
