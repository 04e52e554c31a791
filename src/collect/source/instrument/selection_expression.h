/* Which extended regular expressions (POSIX) the C library may be given: glibc's takes time and memory without bound for some. */
#ifndef COLLECT_SOURCE_INSTRUMENT_SELECTION_EXPRESSION_H
#define COLLECT_SOURCE_INSTRUMENT_SELECTION_EXPRESSION_H

/* NULL: it may; else what there is too much of, in words that go on after "'...': ". Whether it is an expression at all is not
 * looked at. */
const char *selection_expression_excess(const char *expression);

#endif
