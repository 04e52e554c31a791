/*
 * A recursion 10,000 deep that burns CPU at each depth on its way down and up, and longest at
 * the bottom. Usage: `deep [SECONDS]` (default 2) of this thread's CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 10000 };

static volatile unsigned long sink;

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		sink += i * i;
}

__attribute__((noinline)) static unsigned descend(unsigned depth)
{
	burn(400);
	if (depth == DEPTH) {
		burn(4000000);
		return depth;
	}
	unsigned deepest = descend(depth + 1);
	burn(400);
	return deepest + (sink == 1);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	unsigned deepest = 0;

	while (cpu_seconds() < seconds)
		deepest = descend(1);
	printf("%u\n", deepest);
	return 0;
}
