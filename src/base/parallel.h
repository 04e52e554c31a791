/* Runs one function over several items at once. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MAX = 8 };

/* Calls work(item) for each of `count` items (at most PARALLEL_MAX), which are `bytes` apart: the first in the calling
 * thread, each other one in a thread of its own or, if none can be started, in the calling thread. Returns when all
 * calls have returned. */
void parallel_run(void (*work)(void *item), void *items, size_t count, size_t bytes);

#endif
