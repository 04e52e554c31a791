/* Spends nearly all of its time reading the clock, in the vDSO. */
#include <time.h>

#include "burn.h"

NOINLINE static void read_clock(int times)
{
	struct timespec now;

	while (times-- > 0)
		clock_gettime(CLOCK_MONOTONIC, &now);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	for (int i = 0, rounds = rounds_wanted(argc, argv, 200); i < rounds; i++)
		read_clock(100000);
	share("main;read_clock", 1.0);
	return 0;
}
