/* Prints how long a program's own work took to its standard error, so that a reader can subtract
 * a tool's start and end. */
#ifndef OWN_TIME_H
#define OWN_TIME_H

#include <stdio.h>
#include <time.h>

static inline double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void print_own_time(double start)
{
	fprintf(stderr, "own time %.6f s\n", seconds_now() - start);
}

static inline double cpu_seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void print_own_cpu(double start)
{
	fprintf(stderr, "own cpu %.6f s\n", cpu_seconds_now() - start);
}

#endif
