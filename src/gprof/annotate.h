/* -A: the source, and in front of each line how often it ran. */
#ifndef GPROF_ANNOTATE_H
#define GPROF_ANNOTATE_H

#include "gprof/print.h"

/*
 *	        1000 -> static int clamp(int value)        the function was called 1000 times
 *	       ##### -> static int unused(void)            ... or never
 *	    1000,998 -> 	for (...)                   -l: how often each block ran that begins here
 *	                	total += value;             nothing begins here; -x: as above
 *
 * Then a table of the lines with the largest counts (-t) and a summary of the file. With arcs alone only functions have
 * counts, and these figures are gprof's. Where a file's blocks were counted (-l) each line's count is known: that of its
 * most executed block, where none begins in it that of the block that runs through it.
 *
 * Files that are not found are named instead. Errors: ERROR_MEMORY, ERROR_USAGE (a profile has no image), and of -y what
 * keeps a copy from being written.
 */
print_function print_source;

#endif
