/*
 * One function that only computes and one that only makes system calls, each for a known time by the kernel's
 * accounting.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "burn.h"

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Reads the clock about once a millisecond, which costs hardly any system time. */
NOINLINE static void compute(void)
{
	enum { TURNS = 1 << 19, WANTED_NS = 30 * 1000 * 1000 };
	long start, now;

	BURN_CLOCK(start);
	do {
		burn_turns(TURNS);
		BURN_CLOCK(now);
	} while (now - start < WANTED_NS);
	NOT_A_TAIL_CALL();
}

NOINLINE static void call_system(int zero)
{
	static char buffer[1 << 20];

	for (int i = 0; i < 500; i++)
		if (read(zero, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
			exit(1);
	NOT_A_TAIL_CALL();
}

/* Prints the CPU time of both functions. The kernel's own division into user and system time is estimated from ticks,
 * and wrong on a busy machine; the sum is exact. */
int main(int argc, char **argv)
{
	int zero = open("/dev/zero", O_RDONLY);
	struct rusage used;
	long before, after, computed_ns = 0;

	if (zero < 0)
		return 1;
	for (int i = 0, rounds = rounds_wanted(argc, argv, 10); i < rounds; i++) {
		BURN_CLOCK(before);
		compute();
		BURN_CLOCK(after);
		computed_ns += after - before;
		call_system(zero);
	}
	getrusage(RUSAGE_SELF, &used);
	const double computed = (double)computed_ns / 1e9;
	printf("user %.6f\nsys %.6f\n", computed, seconds(used.ru_utime) + seconds(used.ru_stime) - computed);
	return 0;
}
