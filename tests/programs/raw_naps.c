/*
 * `raw_naps MS BURST_US NAP_US`: works for MS milliseconds, in bursts of BURST_US that it divides among half, three and two (50,
 * 30 and 20 % of a burst, in this order), and sleeps after each for NAP_US on average, by a system call of its own that no
 * library sees. The shares that it states are shares of its CPU clock.
 */
#include <stdint.h>

#include "burn.h"

enum { PARTS = 3, US_PER_S = 1000000, NS_PER_US = 1000 };

#define FUNCTION(name)                                 \
	NOINLINE static void name(unsigned long turns) \
	{                                              \
		burn_turns(turns);                     \
		NOT_A_TAIL_CALL();                     \
	}

FUNCTION(half)
FUNCTION(three)
FUNCTION(two)

NOINLINE static void nap(long us)
{
	struct timespec time = { us / US_PER_S, us % US_PER_S * NS_PER_US };
	long result = SYS_nanosleep;

	__asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
}

static double turns_of_us(void)
{
	enum { TURNS = 10 * 1000 * 1000 };
	long start, end;

	BURN_CLOCK(start);
	burn_turns(TURNS);
	BURN_CLOCK(end);
	return (double)TURNS * NS_PER_US / (double)(end - start);
}

int main(int argc, char **argv)
{
	static void (*const functions[PARTS])(unsigned long) = { half, three, two };
	static const char *const names[PARTS] = { "half", "three", "two" };
	static const double shares[PARTS] = { 0.5, 0.3, 0.2 };
	double used[PARTS] = { 0 }, work = 0;
	uint32_t random = 1;

	if (argc < 4)
		return 1;
	const double burst = atof(argv[2]) * turns_of_us();
	const long nap_us = atol(argv[3]);
	while (work < atof(argv[1]) * 1000 * NS_PER_US) {
		for (int i = 0; i < PARTS; i++) {
			long start, end;

			BURN_CLOCK(start);
			functions[i]((unsigned long)(burst * shares[i]));
			BURN_CLOCK(end);
			used[i] += (double)(end - start);
			work += (double)(end - start);
		}
		random = random * 1664525 + 1013904223;
		nap(nap_us / 2 + (long)(random >> 16) * nap_us / 65536);
	}
	for (int i = 0; i < PARTS; i++)
		printf("share main;%s %.4f\n", names[i], used[i] / work);
	return 0;
}
