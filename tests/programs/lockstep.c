/*
 * `lockstep PERIOD_US SECONDS`: alternates between two functions with a fixed period of its own CPU time, a
 * quarter in one and three quarters in the other. A sampler that has the same period and no jitter samples only
 * one of them.
 */
#include <time.h>

#include "burn.h"

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

NOINLINE static void quarter(long until)
{
	while (now_ns() < until)
		NOT_A_TAIL_CALL();
}

NOINLINE static void three_quarters(long until)
{
	while (now_ns() < until)
		NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	long period = atol(argv[1]) * 1000;
	long next = now_ns();
	long end = next + (long)(atof(argv[2]) * 1e9);

	while (next < end) {
		quarter(next + period / 4);
		next += period;
		three_quarters(next);
	}
	share("main;quarter", 0.25);
	share("main;three_quarters", 0.75);
	return 0;
}
