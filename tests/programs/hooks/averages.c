/* Two callers call one function equally often, and all the time that it takes is in the calls of one of them: what gprof, to
 * which each call costs the same, gets wrong. The argument: how many rounds each of those calls turns. */
#include "hooks.h"

enum { CALLS = 100 };

static volatile long sum;

static NOINLINE void work(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sum += i;
}

static NOINLINE void light(void)
{
	for (int i = 0; i < CALLS; i++)
		work(UNKNOWN(0));
}

static NOINLINE void heavy(long rounds)
{
	for (int i = 0; i < CALLS; i++)
		work(UNKNOWN(rounds));
}

int main(int argc, char **argv)
{
	light();
	heavy(argc > 1 ? atol(argv[1]) : 10);
	return 0;
}
