/*
 * Usage: `numbers [TURNS]`. A numeric loop of TURNS turns (default 600 M), as in a simulation.
 * Most of its operations are inexact; none raises another floating point exception. Prints a
 * result that is the same to the last bit with and without a tool.
 */
#include <stdlib.h>

#include "own_time.h"

enum { PLACES = 1024 };

static double places[PLACES], speeds[PLACES];

__attribute__((noinline)) static void step(double by)
{
	for (int i = 0; i < PLACES; i++) {
		double force = 0.5 - places[i];
		speeds[i] += by * force;
		places[i] += by * speeds[i];
	}
}

int main(int argc, char **argv)
{
	long turns = argc > 1 ? atol(argv[1]) : 600000000;
	double start, sum = 0;

	for (int i = 0; i < PLACES; i++)
		places[i] = (double)i / PLACES;
	start = seconds_now();
	for (long turn = 0; turn < turns; turn += PLACES)
		step(0x1p-10 * 1.1);
	print_own_time(start);
	for (int i = 0; i < PLACES; i++)
		sum += places[i];
	printf("%a\n", sum);
	return 0;
}
