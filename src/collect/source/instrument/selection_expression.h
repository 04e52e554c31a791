/* Decides which extended regular expressions (POSIX) may be passed to the C library: glibc needs unlimited time and
 * memory for some. */
#ifndef COLLECT_SOURCE_INSTRUMENT_SELECTION_EXPRESSION_H
#define COLLECT_SOURCE_INSTRUMENT_SELECTION_EXPRESSION_H

/* Returns NULL if the expression is acceptable, or the reason, which continues
 * "'...': ". Does not check whether it is a valid expression. */
const char *selection_expression_excess(const char *expression);

#endif
