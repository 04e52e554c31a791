/*
 * A limit on the memory of this process, for commands that read files from outside: a small file may describe tables of many
 * gigabytes. The kernel enforces the limit (RLIMIT_DATA), so that it covers every allocation: beyond it, malloc returns NULL and the
 * command fails with ERROR_MEMORY.
 */
#ifndef BASE_MEMORY_LIMIT_H
#define BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Reads "512M", "4G", "1.5GiB" or a number of bytes; the units are powers of 1,024. Returns false if the text is none of these. */
bool memory_limit_read(const char *text, uint64_t *bytes);

/* Limits the memory that the process takes from now on; 0: no limit. Returns 0 or a negative error, with `error` set. */
int memory_limit_set(uint64_t bytes, struct error *error);

/* Returns the bytes of memory_limit_set; 0: no limit. */
uint64_t memory_limit(void);

/* Appends the limit and its option to an error about exhausted memory, if there is a limit. */
void memory_limit_explain(struct error *error);

enum { MEMORY_TEXT_BYTES = 32 };
/* Writes "1.5 GiB" into `text` [MEMORY_TEXT_BYTES] and returns it. */
const char *memory_text(uint64_t bytes, char *text);

#endif
