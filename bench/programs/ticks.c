/*
 * Usage: `ticks INTERVAL_US [TURNS]`. Runs TURNS (default 1,000) turns of the loop of frames.c
 * under a timer whose handler only counts: the cost of a tick without any work for it. Prints
 * the CPU time that it used, and the number of ticks.
 */
#include <signal.h>
#include <stdlib.h>

#include "own_time.h"

static volatile unsigned long sink;
static volatile long ticks;

static void count(int number)
{
	(void)number;
	ticks++;
}

int main(int argc, char **argv)
{
	long interval_ns = argc > 1 ? 1000 * atol(argv[1]) : 1000000;
	long turns = argc > 2 ? atol(argv[2]) : 1000;
	struct sigaction action = { .sa_handler = count, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec each = { { 0, interval_ns }, { 0, interval_ns } };
	timer_t timer;
	double start;

	if (sigaction(SIGRTMIN, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &each, NULL))
		return 1;
	start = cpu_seconds_now();
	for (long turn = 0; turn < turns; turn++)
		for (unsigned long i = 0; i < 2000000; i++)
			sink += i;
	print_own_cpu(start);
	fprintf(stderr, "%ld ticks\n", ticks);
	return 0;
}
