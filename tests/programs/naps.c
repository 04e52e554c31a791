/*
 * `naps ROUNDS TURNS MICROSECONDS`: in each round, runs 2 * TURNS turns of a loop in one function and sleeps, then
 * TURNS turns in another and sleeps. Work directly after a sleep must not be over-represented.
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
	sink++; /* keeps this frame on the stack while spin runs: its call is no jump */
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
