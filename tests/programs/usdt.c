/*
 * `usdt [ROUNDS]`: passes a static probe three times as often below one caller as below the other, with an amount
 * as its second argument. Built with -DSEMAPHORE, it does so only if a tool watches the probe.
 */
#ifdef SEMAPHORE
#define _SDT_HAS_SEMAPHORES 1
#define WATCHED (cpprof_test_consumed_semaphore > 0)
unsigned short cpprof_test_consumed_semaphore __attribute__((section(".probes")));
unsigned short cpprof_test_never_semaphore __attribute__((section(".probes")));
#else
#define WATCHED 1
#endif
#include <sys/sdt.h>

#include "burn.h"

static unsigned long long consumed[2];

static void consume(int which, unsigned long bytes)
{
	if (WATCHED)
		DTRACE_PROBE2(cpprof_test, consumed, which, bytes);
	consumed[which] += bytes;
}

NOINLINE static void heavy(unsigned rounds)
{
	for (unsigned i = 0; i < 3 * rounds; i++)
		consume(0, i % 10);
}

NOINLINE static void light(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		consume(1, i % 10);
}

int main(int argc, char **argv)
{
	unsigned rounds = (unsigned)rounds_wanted(argc, argv, 100);

	heavy(rounds);
	light(rounds);
	if (rounds == 0)
		DTRACE_PROBE(cpprof_test, never);
	amount("usdt:cpprof_test:consumed", "main;heavy", 3ull * rounds);
	amount("usdt:cpprof_test:consumed", "main;light", rounds);
	amount("usdt:cpprof_test:consumed:arg2", "main;heavy", consumed[0]);
	amount("usdt:cpprof_test:consumed:arg2", "main;light", consumed[1]);
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
