/*
 * Common code of the programs under test: it uses known amounts of CPU time, and prints what a program states
 * about itself.
 *
 * A line `share A;B;C FRACTION` on standard output states: this fraction of the samples of its work has frames
 * named A, B and C in that order, outermost first, with any frames in between. A sample belongs to the work if it
 * has the last frame of any of these lines. This leaves out the start and end of processes and threads, whose time
 * varies.
 *
 * A line `amount RESOURCE A;B;C N` states the exact number of gticks of that resource that were used there.
 *
 * Compiled with -DEVENTS=... (events.h), the same program counts: where it otherwise uses N microseconds, it makes
 * N / EVENT_US countable events. Its shares are then exact.
 */
#ifndef BURN_H
#define BURN_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/*
 * Follows a call, so that the compiler does not turn the call into a jump, which would drop the caller's frame.
 * The line number makes functions differ that otherwise are equal, so that the compiler does not merge them.
 */
#define TEXT_OF_(line) #line
#define TEXT_OF(line) TEXT_OF_(line)
#define NOT_A_TAIL_CALL() __asm__ volatile("# " TEXT_OF(__LINE__)::: "memory")

static volatile unsigned long burn_sink;

/* A chain of dependent loads and stores: a known amount of work, whose time depends on the machine. */
NOINLINE __attribute__((unused)) static void burn_turns(unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++)
		burn_sink += i;
}

#ifdef EVENTS

#include "events.h"

#ifndef EVENT_US
#define EVENT_US 5
#endif

#define BURN_HERE(us)                                                                                      \
	do {                                                                                               \
		for (unsigned long burn_left = (unsigned long)(us) / EVENT_US; burn_left > 0; burn_left--) \
			EVENT_HERE();                                                                      \
	} while (0)

#else

/* Reads this thread's CPU time into `ns`. The system call is made inline, so it adds no frame of another function. */
#define BURN_CLOCK(ns)                                                                \
	do {                                                                          \
		struct timespec burn_now = { 0, 0 };                                  \
		long burn_result = SYS_clock_gettime;                                 \
		__asm__ volatile("syscall"                                            \
				 : "+a"(burn_result)                                  \
				 : "D"((long)CLOCK_THREAD_CPUTIME_ID), "S"(&burn_now) \
				 : "rcx", "r11", "memory");                           \
		if (burn_result) /* a filter of system calls refused it */            \
			__builtin_trap();                                             \
		(ns) = burn_now.tv_sec * 1000000000L + burn_now.tv_nsec;              \
	} while (0)

/*
 * The nanoseconds that BURN_HERE(us) uses when it starts at `start` nanoseconds of the thread's CPU time: on average
 * `us` microseconds, and up to a half more or less, at most 500 us. The last digits of the clock select the amount. So
 * the work never repeats in step with a sampling interval of a millisecond, in which case all the samples would fall
 * into the same few places.
 */
#define BURN_AMOUNT(us, start)                                                                  \
	((us)*1000L + ((long)(((unsigned long)(start)*2654435761ul >> 16) % 1024) * 2 - 1023) * \
			      ((us) < 1000 ? (us)*500L : 500000L) / 1023)

/*
 * Uses about `us` microseconds of CPU time, see BURN_AMOUNT, independent of the machine's speed and load: runs turns
 * until the thread's clock has advanced by that much. Each chunk of turns is seven eighths of the rest, at the speed
 * measured so far, and at most 100 us, because the speed may change at any moment. A macro, so that it belongs to the
 * function that contains it, also in the debug information.
 */
#define BURN_HERE(us)                                                                                     \
	do {                                                                                              \
		unsigned long burn_turns = (us) < 100 ? (us)*16ul + 16 : 1600;                            \
		long burn_start, burn_wanted, burn_before = 0, burn_used = 0;                             \
		BURN_CLOCK(burn_start);                                                                   \
		burn_wanted = BURN_AMOUNT(us, burn_start);                                                \
		while (burn_used < burn_wanted) {                                                         \
			const long burn_rest = burn_wanted - burn_used;                                   \
			const double burn_left = burn_rest < 100000 ? (double)burn_rest : 100000;         \
			if (burn_used > burn_before)                                                      \
				burn_turns = (unsigned long)((double)burn_turns * burn_left /             \
							     (double)(burn_used - burn_before) * 7 / 8) + \
					     16;                                                          \
			for (unsigned long burn_i = 0; burn_i < burn_turns; burn_i++)                     \
				burn_sink += burn_i;                                                      \
			burn_before = burn_used;                                                          \
			BURN_CLOCK(burn_used);                                                            \
			burn_used -= burn_start;                                                          \
		}                                                                                         \
	} while (0)

#endif

NOINLINE __attribute__((unused)) static void burn(unsigned us)
{
	BURN_HERE(us);
	NOT_A_TAIL_CALL();
}

static inline void share(const char *path, double fraction)
{
	printf("share %s %.6f\n", path, fraction);
}

static inline void amount(const char *resource, const char *path, unsigned long long gticks)
{
	printf("amount %s %s %llu\n", resource, path, gticks);
}

/* The program's first argument as a number of rounds, or `normally` without one. */
static inline int rounds_wanted(int argc, char **argv, int normally)
{
	return argc > 1 ? atoi(argv[1]) : normally;
}

#endif
