/* Functions of the C library that wasi-libc does not have. Included before each file that is compiled for the page. */
#ifndef UI_PAGE_MISSING_H
#define UI_PAGE_MISSING_H

#include <stddef.h>

/* Like the C library's; the sort is stable. Without memory for a copy of the items, it sorts them in place, slowly. */
void qsort_r(void *items, size_t count, size_t bytes, int (*compare)(const void *, const void *, void *),
	     void *context);

#endif
