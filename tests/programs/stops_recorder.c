/*
 * Descends 3,000 levels, too deep for a walk where the sample is taken, and there stops its parent, the recorder, for
 * as many milliseconds of CPU time as the first argument specifies.
 */
#include <signal.h>
#include <unistd.h>

#include "burn.h"

enum { LEVELS = 3000, WALKED_ONCE_US = 20000, US_PER_MS = 1000 };

NOINLINE static void descend(int levels, int milliseconds)
{
	if (levels) {
		descend(levels - 1, milliseconds);
	} else {
		burn(WALKED_ONCE_US);
		kill(getppid(), SIGSTOP);
		burn(milliseconds * US_PER_MS);
		kill(getppid(), SIGCONT);
	}
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	descend(LEVELS, rounds_wanted(argc, argv, 10));
	return 0;
}
