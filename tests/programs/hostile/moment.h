/*
 * Common code of the programs that repeat one hostile action. Each runs its loop for some milliseconds and at
 * least some rounds, checks its own results, prints one line and exits with status 0. If a check fails, it prints
 * the check on standard error and exits with status 99.
 */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../burn.h"

enum { WORK_MS = 10, WRONG = 99 };

#define CHECK(right)                                                                                \
	do {                                                                                        \
		if (!(right))                                                                       \
			moment_went_wrong(__FILE__ ":" TEXT_OF(__LINE__) ": not so: " #right "\n"); \
	} while (0)

/* Safe in a handler, on any stack. */
__attribute__((noreturn, unused)) static void moment_went_wrong(const char *said)
{
	if (write(STDERR_FILENO, said, strlen(said)) < 0)
		_exit(WRONG + 1);
	_exit(WRONG);
}

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns true until WORK_MS after the first call, and for at least `least` calls. */
__attribute__((unused)) static bool moment_goes_on(unsigned least)
{
	static uint64_t end_ns;
	static unsigned calls;

	if (!end_ns)
		end_ns = now_ns() + WORK_MS * 1000000ull;
	return calls++ < least || now_ns() < end_ns;
}

/* Writes one line without buffering, so that it is not lost, however the program ends. */
__attribute__((unused)) static int moment_ends(const char *said)
{
	CHECK(write(STDOUT_FILENO, said, strlen(said)) == (ssize_t)strlen(said));
	return 0;
}

#endif
