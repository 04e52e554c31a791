/* -r, -R: the order in which a linker would best arrange functions or object files. */
#ifndef GPROF_ORDER_H
#define GPROF_ORDER_H

#include "gprof/print.h"

/*
 * Method: K. Pettis, R. C. Hansen, "Profile Guided Code Positioning", PLDI '90, "closest is best", but chains are
 * never reversed. From the arc with the most calls to the one with the fewest, the chains of caller and callee are
 * joined, in the order that leaves the two closer together. Then the chains are printed, sorted by their busiest
 * arc; then functions that were called only from outside; then the rest, by address. (binutils' gprof uses a
 * heuristic: its order differs.)
 */
print_function print_function_order;

/*
 * The same for object files: the position of each is that of its first function. The map (-R) assigns functions to
 * files, in the format of nm -o:
 *
 *	parse.o:0000000000001139 T parse_line
 *
 * Errors: ERROR_NOT_FOUND, ERROR_PERMISSION, ... if the map cannot be read; ERROR_FORMAT if no line of it has this form.
 */
print_function print_file_order;

#endif
