/* Makes very many calls, and is killed without exit handlers. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "hooks.h"

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void many(long count)
{
	for (long i = 0; i < count; i++)
		step();
}

int main(int argc, char **argv)
{
	many(argc > 1 ? atol(argv[1]) : 100);
	if (argc > 2)
		kill(getpid(), SIGKILL);
	return 0;
}
