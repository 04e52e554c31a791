/*
 * Many small processes: `crowd N SHARE` starts N programs, which compute for SHARE of the time together (1: of one processor) in turns of about
 * a millisecond, at the end of 5 to 30 calls, and sleep in between. They end with the first process.
 */
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void compute(uint64_t ns)
{
	for (uint64_t end = cpu_ns() + ns; cpu_ns() < end;)
		for (int i = 0; i < 1000; i++)
			sink += (uint64_t)i * sink;
}

__attribute__((noinline)) static void descend(int depth, uint64_t ns)
{
	if (depth == 0)
		compute(ns);
	else
		descend(depth - 1, ns);
	sink++;
}

static void work(int number, double share)
{
	enum { DEPTH_LEAST = 5, DEPTHS = 26, TURN_NS = 1000000, NS_PER_S = 1000000000 };
	uint64_t chance = (uint64_t)number + 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		chance = chance * 6364136223846793005 + 1442695040888963407;
		double sleep_ns = (double)(chance >> 33) / (double)(UINT64_C(1) << 31) * 2 * TURN_NS / share;
		const struct timespec rest = { (time_t)(sleep_ns / NS_PER_S), (long)sleep_ns % NS_PER_S };
		nanosleep(&rest, NULL);
		descend(DEPTH_LEAST + (int)(chance >> 40) % DEPTHS, TURN_NS);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4)
		work(atoi(argv[2]), atof(argv[3]));
	int count = argc > 2 ? atoi(argv[1]) : 0;
	for (int i = 0; i < count; i++) {
		char number[16], share[32];
		snprintf(number, sizeof(number), "%d", i);
		snprintf(share, sizeof(share), "%.6f", atof(argv[2]) / count);
		char *const words[] = { argv[0], "of", number, share, NULL };
		pid_t pid;
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ) != 0)
			return 1;
	}
	pause();
	return 0;
}
