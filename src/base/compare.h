/* Comparison of numbers, for qsort and bsearch. */
#ifndef BASE_COMPARE_H
#define BASE_COMPARE_H

/* -1, 0 or 1, as `a` is smaller than `b`, equal, or larger. A comparison by several fields joins
 * them in the order of their weight:
 *
 *     return COMPARE(a->file, b->file) ?: COMPARE(a->line, b->line) ?: strcmp(a->name, b->name);
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#endif
