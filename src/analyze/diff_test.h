/* The figures of a comparison: amounts, fractions, their changes, and tests of them. Internal to analyze/. */
#ifndef ANALYZE_DIFF_TEST_H
#define ANALYZE_DIFF_TEST_H

#include "analyze/analyses.h"

/* Computes the totals of the list and the figures of its entries. `hits` has, per node of the paths' trie, a number for each
 * recording. Returns 0 or ERROR_MEMORY. */
int diff_test(struct diff_list *list, const uint64_t *hits);

#endif
