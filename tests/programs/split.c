/*
 * `split MS [US]`: uses that many milliseconds of CPU time, 40, 30, 20 and 10 % of it in the functions forty, thirty, twenty
 * and ten. They take turns at random, for random times of US microseconds on average, by default 100. The last line states the shares that each function
 * had in the process's whole CPU time, as its clocks measured them: they differ from 40, 30, 20 and 10 % by at most one turn,
 * and by the start of the process.
 */
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { FUNCTIONS = 4, NS_PER_MS = 1000000 };

static uint64_t state; /* of the random numbers: never 0 */

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#define FUNCTION(name)                         \
	NOINLINE static void name(unsigned us) \
	{                                      \
		BURN_HERE(us);                 \
		NOT_A_TAIL_CALL();             \
	}

FUNCTION(forty)
FUNCTION(thirty)
FUNCTION(twenty)
FUNCTION(ten)

static long now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

int main(int argc, char **argv)
{
	static void (*const functions[FUNCTIONS])(unsigned) = { forty, thirty, twenty, ten };
	static const char *const names[FUNCTIONS] = { "forty", "thirty", "twenty", "ten" };
	static const double shares[FUNCTIONS] = { 0.4, 0.3, 0.2, 0.1 };
	const double wanted = (argc > 1 ? atof(argv[1]) : 500) * NS_PER_MS;
	const double mean_us = argc > 2 ? atof(argv[2]) : 100;
	double used[FUNCTIONS] = { 0 };

	state = (uint64_t)now_ns(CLOCK_REALTIME) * 2654435761u ^ (uint64_t)getpid() << 32 | 1;
	for (;;) {
		double left[FUNCTIONS], all = 0;
		int chosen = 0;

		for (int i = 0; i < FUNCTIONS; i++) {
			left[i] = wanted * shares[i] - used[i];
			all += left[i] > 0 ? left[i] : 0;
		}
		if (all <= 0)
			break;
		/* Each function is as likely as the time that it has left. */
		double at = (double)(random_number() >> 11) / 9007199254740992.0 * all;

		while (chosen < FUNCTIONS - 1 && at >= (left[chosen] > 0 ? left[chosen] : 0))
			at -= left[chosen] > 0 ? left[chosen] : 0, chosen++;
		double us = mean_us; /* BURN_HERE makes it random */
		long start = now_ns(CLOCK_THREAD_CPUTIME_ID);

		if (us * 1000 > left[chosen])
			us = left[chosen] / 1000 + 1;
		functions[chosen]((unsigned)us);
		used[chosen] += (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	}
	double whole = (double)now_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (int i = 0; i < FUNCTIONS; i++)
		share(names[i], used[i] / whole);
	return 0;
}
