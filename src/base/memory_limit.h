/*
 * A limit on the memory of this process, for commands that read files from outside: a small file
 * may describe tables of many gigabytes. The kernel enforces the limit (RLIMIT_DATA), so that it
 * covers every allocation: beyond it, malloc returns NULL and the command fails with ERROR_MEMORY.
 */
#ifndef BASE_MEMORY_LIMIT_H
#define BASE_MEMORY_LIMIT_H

#include <stdint.h>

#include "base/error.h"

/* Limits the memory that the process takes from now on; 0: no limit. Returns 0 or a negative error, with `error` set. */
int memory_limit_set(uint64_t bytes, struct error *error);

/* Returns the bytes of memory_limit_set; 0: no limit. */
uint64_t memory_limit(void);

/* Appends the limit and its option to an error about exhausted memory, if there is a limit. */
void memory_limit_explain(struct error *error);

#endif
