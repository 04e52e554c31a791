/*
 * `naps ROUNDS TURNS MICROSECONDS`: works for twice as many turns of a loop, and sleeps; for so many, and sleeps. What runs
 * right behind a sleep is no more than what it is.
 */
#include <stdlib.h>
#include <unistd.h>

static volatile long sink;

static void spin(long turns)
{
	for (long i = 0; i < turns; i++)
		sink += i;
}

__attribute__((noinline)) static void twice(long turns)
{
	spin(2 * turns);
	sink++; /* no jump: it is on the stack while it spins */
}

__attribute__((noinline)) static void once(long turns)
{
	spin(turns);
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 1;
	long turns = atol(argv[2]);
	useconds_t nap = (useconds_t)atol(argv[3]);

	for (long rounds = atol(argv[1]); rounds > 0; rounds--) {
		twice(turns);
		usleep(nap);
		once(turns);
		usleep(nap);
	}
	return 0;
}
