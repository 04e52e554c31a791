/* Two callers call one function equally often, and all its time is in the calls by one of them. gprof reports
 * equal times, because it assumes that each call costs the same. The argument is the number of rounds of each
 * expensive call. */
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
