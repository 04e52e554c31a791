/*
 * What the programs of this folder share. Each has one behaviour that those who count calls get wrong, calls
 * its functions a number of times that does not depend on chance, and returns 0 if it computed what it should.
 * Valgrind gives a forked child what its parent has counted, and forgets what a program has when it becomes another
 * one: requests to it (valgrind/callgrind.h) set that right, and do nothing elsewhere.
 */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

/* A value that the compiler does not know. */
#define UNKNOWN(value)                                \
	__extension__({                               \
		__typeof__(value) unknown = (value);  \
		__asm__ volatile("" : "+r"(unknown)); \
		unknown;                              \
	})

/* Calls that valgrind does not count, as nobody's code makes them: those of handlers. Written at once: a forked
 * child shall not write it again. */
__attribute__((unused, no_instrument_function)) static void states(const char *function, long calls)
{
	printf("calls %s %ld\n", function, calls);
	fflush(stdout);
}

/* The program is wrong, or what measures it makes it wrong. */
#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			_Exit(3);                                                               \
		}                                                                               \
	} while (0)

#endif
