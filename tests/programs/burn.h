/*
 * What the programs under test share: CPU time in known amounts, and the words in which a program states its own
 * ground truth. Each line `share A;B;C FRACTION` on its standard output says: of all samples, this fraction has frames
 * named A, B and C in that order, outermost first, with any frames in between. Each line `amount RESOURCE A;B;C N` says
 * how many gticks of that resource were used there, exactly.
 */
#ifndef BURN_H
#define BURN_H

#include <stdio.h>
#include <stdlib.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/*
 * After a call, so that it is not made a jump, which would drop the caller's frame. The line number makes the function
 * unlike any other, so that the compiler does not make one of the two.
 */
#define TEXT_OF_(line) #line
#define TEXT_OF(line) TEXT_OF_(line)
#define NOT_A_TAIL_CALL() __asm__ volatile("# " TEXT_OF(__LINE__)::: "memory")

static volatile unsigned long burn_sink;

/*
 * About `us` microseconds of arithmetic. A chain of dependent loads and stores takes the same time at every -O level,
 * and equal calls take equal times, which is all that the shares need.
 */
NOINLINE __attribute__((unused)) static void burn(unsigned us)
{
	for (unsigned long i = 0; i < us * 500ul; i++)
		burn_sink += i;
}

static inline void share(const char *path, double fraction)
{
	printf("share %s %.6f\n", path, fraction);
}

static inline void amount(const char *resource, const char *path, unsigned long long gticks)
{
	printf("amount %s %s %llu\n", resource, path, gticks);
}

/* The program's first argument as a number: how many rounds it turns. */
static inline int rounds_wanted(int argc, char **argv, int normally)
{
	return argc > 1 ? atoi(argv[1]) : normally;
}

#endif
