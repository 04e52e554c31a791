/*
 * Makes the N-th allocation fail, for each N: every outcome must be a success or an error, without a crash or a
 * leak (the sanitizer build detects both).
 *
 *     ALLOC_FAIL_EACH(try_to_load(path));
 *
 * Works in a program that is linked with `lab` (meson.build), which wraps malloc, calloc, realloc and
 * aligned_alloc. Allocations inside shared libraries do not count, and neither do those that libc makes internally
 * (strdup, asprintf, getline).
 */
#ifndef TESTS_ALLOC_FAIL_H
#define TESTS_ALLOC_FAIL_H

#include <stdbool.h>

/* The `number`-th allocation from now (1: the next one) fails, once. 0: none fails. */
void alloc_fail_start(unsigned long number);

/* Ends the injection. Returns whether an allocation failed: if so, a larger number may reach a later allocation. */
bool alloc_fail_stop(void);

/* Runs `statement` with its first allocation failing, then with its second, and so on, until it makes fewer
 * allocations. */
#define ALLOC_FAIL_EACH(statement)                                     \
	for (unsigned long number_ = 1, more_ = 1; more_; number_++) { \
		alloc_fail_start(number_);                             \
		statement;                                             \
		more_ = alloc_fail_stop();                             \
	}

#endif
