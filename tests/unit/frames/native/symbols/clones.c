/* Functions that the compiler clones, or whose cold part it splits off. */
#include "mark.h"
#include <stdlib.h>

volatile int sink;

__attribute__((cold, noinline)) static void fail(void)
{
	sink = 1;
	abort();
}

NOINLINE int parse(int x)
{
	MARK(1);
	if (__builtin_expect(x == 77, 0)) {
		sink = 2;
		fail();
	}
	return x + sink;
}

NOINLINE static int scan(int x, int mode)
{
	MARK(2);
	return mode == 5 ? x + sink : x - sink;
}

int main(int argc, char **argv)
{
	(void)argv;
	return parse(argc) + scan(argc, 5) + scan(argc + 1, 5);
}
