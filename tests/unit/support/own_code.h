/*
 * The code of the test program and of its forks, with its unwind tables, in the form in which a backend receives
 * it.
 */
#ifndef TESTS_OWN_CODE_H
#define TESTS_OWN_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"

enum { OWN_CODE_MAX = 64 };

extern struct backend_code own_code[OWN_CODE_MAX]; /* sorted */
extern size_t own_code_count;

void own_code_read(void);
void own_code_release(void);

/* Returns the run-time address at which the function that contains `pc` begins, or 0 if no table has one. */
uint64_t own_code_function(uint64_t pc);

#endif
