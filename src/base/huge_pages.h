/* Large arrays without a page fault for each 4 KB. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* Asks the kernel to back an array of malloc by huge pages, where they are whole within it. Called before the array is filled:
 * memory that is touched already keeps its pages. The kernel may refuse, and small arrays are left as they are; nothing but the
 * time changes. */
void huge_pages_advise(void *memory, size_t bytes);

#endif
