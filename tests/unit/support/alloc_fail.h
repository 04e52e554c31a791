/*
 * Makes the N-th allocation fail, for each N: every outcome must be a success or
 * an error, without a crash or a leak (the sanitizer build sees those).
 *
 *     ALLOC_FAIL_EACH(try_to_load(path));
 *
 * A test that uses it is linked with `alloc_fail.c` and `alloc_fail_link` (see
 * meson.build). Allocations inside shared libraries are not seen, nor those of
 * libc on its own behalf (strdup, asprintf, getline).
 */
#ifndef TESTS_ALLOC_FAIL_H
#define TESTS_ALLOC_FAIL_H

#include <stdbool.h>

/* The `number`-th allocation from now fails (1: the next one), once; 0: none does. */
void alloc_fail_start(unsigned long number);

/* Ends the injection; true: it did fail, so there may be a larger number to try. */
bool alloc_fail_stop(void);

/* Runs `statement` with the first allocation failing, then the second, and so
 * on until it makes fewer than that. */
#define ALLOC_FAIL_EACH(statement)                                     \
	for (unsigned long number_ = 1, more_ = 1; more_; number_++) { \
		alloc_fail_start(number_);                             \
		statement;                                             \
		more_ = alloc_fail_stop();                             \
	}

#endif
