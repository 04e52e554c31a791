/* -A: the source, with a count of executions in front of each line. */
#ifndef GPROF_ANNOTATE_H
#define GPROF_ANNOTATE_H

#include "gprof/print.h"

/*
 *	        1000 -> static int clamp(int value)        the function was called 1000 times
 *	       ##### -> static int unused(void)            ... or never
 *	    1000,998 -> 	for (...)                   -l: the count of each block that begins here
 *	                	total += value;             no block begins here; -x: as above
 *
 * A table of the lines with the largest counts (-t) and a summary of the file follow. With arcs only, functions alone
 * have counts, and these figures are those of gprof. If a file's blocks were counted (-l), every line has a count: that
 * of its most executed block or, if no block begins at the line, that of the block that continues into it.
 *
 * For a file that is not found, a message replaces the source. Errors: ERROR_MEMORY, ERROR_USAGE (the input is a
 * profile, which has no image) and, with -y, the error of writing a copy.
 */
print_function print_source;

#endif
