/*
 * Common code of this folder's programs. Each program shows one behaviour that counts of calls often get wrong,
 * calls its functions a number of times that does not depend on chance, and returns 0 if its results are correct.
 *
 * Valgrind copies the parent's counts into a forked child, and discards a program's counts at an exec. Client
 * requests (valgrind/callgrind.h) correct that; without valgrind they do nothing.
 */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

/* A value that is unknown to the compiler. */
#define UNKNOWN(value)                                \
	__extension__({                               \
		__typeof__(value) unknown = (value);  \
		__asm__ volatile("" : "+r"(unknown)); \
		unknown;                              \
	})

/* States calls that valgrind does not count, because no code of the program makes them: the calls of handlers. Writes
 * them at once, because a forked child must not write them again. */
__attribute__((unused, no_instrument_function)) static void states(const char *function, long calls)
{
	printf("calls %s %ld\n", function, calls);
	fflush(stdout);
}

/* Fails if the program is wrong, or if the measurement changes its behaviour. */
#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			_Exit(3);                                                               \
		}                                                                               \
	} while (0)

#endif
