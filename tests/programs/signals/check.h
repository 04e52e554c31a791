/*
 * Common code of this folder's programs. Each uses signals as programs do, checks the effects and prints a line
 * for each check. The output must be the same with a profiler's ticks as without.
 */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The signal number of the profiler's ticks. */
#define TICKS (SIGRTMAX - 3)

static int checks_failed;

static void check(bool holds, const char *what)
{
	printf("%s: %s\n", what, holds ? "yes" : "NO");
	fflush(stdout);
	checks_failed += !holds;
}

__attribute__((unused)) static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((unused)) static double cpu_seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Uses this much CPU time, so that ticks fall due. */
__attribute__((unused)) static void busy(double for_seconds)
{
	volatile unsigned long sum = 0;
	for (double end = cpu_seconds() + for_seconds; cpu_seconds() < end;)
		for (int i = 0; i < 10000; i++)
			sum += (unsigned long)i;
}

static volatile sig_atomic_t handled;
__attribute__((unused)) static void count_one(int number)
{
	(void)number;
	handled++;
}

__attribute__((unused)) static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigaction(number, &action, NULL);
}

/* Sends one signal after this time, in seconds. */
__attribute__((unused)) static void alarm_in(double after)
{
	struct itimerval timer = { .it_value = { .tv_usec = (suseconds_t)(after * 1e6) } };
	setitimer(ITIMER_REAL, &timer, NULL);
}

#endif
