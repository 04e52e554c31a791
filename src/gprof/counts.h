/* -C: how often each function was called and, with -l, how often each block ran. */
#ifndef GPROF_COUNTS_H
#define GPROF_COUNTS_H

#include "gprof/print.h"

/*
 *	/src/fib.c:3: (fib:0x1139) 1000 executions
 *	/src/fib.c:5: (fib:0x1150) 1597 executions
 *
 * Sorted by file, line and address; lines without a file stand before or behind all
 * others, a function before the blocks of its first line. Calls of a function by
 * itself are counted apart, as in the call graph, except with -b: "2 executions, and 12 by itself".
 */
print_function print_counts;

#endif
