/* -C: the number of calls of each function and, with -l, the number of executions of each block. */
#ifndef GPROF_COUNTS_H
#define GPROF_COUNTS_H

#include "gprof/print.h"

/*
 *	/src/fib.c:3: (fib:0x1139) 1000 executions
 *	/src/fib.c:5: (fib:0x1150) 1597 executions
 *
 * Sorted by file, line and address. Lines without a file come before or after all others, a function before the blocks
 * of its first line. A function's calls of itself are counted separately, as in the call graph, except with -b:
 * "2 executions, and 12 by itself".
 */
print_function print_counts;

#endif
