/* -r, -R: in which order a linker would best put functions, or object files. */
#ifndef GPROF_ORDER_H
#define GPROF_ORDER_H

#include "gprof/print.h"

/*
 * Method: K. Pettis, R. C. Hansen, "Profile Guided Code Positioning", PLDI '90, "closest is best" without turning chains
 * round: from the arc with the most calls to that with the fewest, the chains that caller and callee are in become one,
 * the way round that leaves the two closer together. Then the chains, by their busiest arc; functions that were called
 * from outside only; the rest, by address. (binutils' gprof goes by a rule of thumb of its own: its order differs.)
 */
print_function print_function_order;

/*
 * The same for object files: each stands where its first function does. Which function is in which file says the map
 * (-R), as nm -o writes it:
 *
 *	parse.o:0000000000001139 T parse_line
 *
 * ERROR_NOT_FOUND, ERROR_PERMISSION, ...: it cannot be read; ERROR_FORMAT: no line of it is such a one.
 */
print_function print_file_order;

#endif
