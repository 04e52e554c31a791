/* Large arrays without a page fault for each 4 KB. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* Asks the kernel to back an array of malloc by huge pages, where they are whole within it.
 * Called before the array is filled: memory that is touched already keeps its pages. The kernel
 * may refuse, and small arrays are left as they are; nothing but the time changes. */
void huge_pages_advise(void *memory, size_t bytes);

/* Returns `bytes` zero bytes that are about to be filled, on huge pages from 1 MB on. Returns
 * NULL without memory. The caller frees it with huge_pages_free, which takes the same size and
 * accepts NULL. */
void *huge_pages_new(size_t bytes);
void huge_pages_free(void *memory, size_t bytes);

/* For a command that reads many files one after the other: from now on, free uses arrays of up to 32 MB again for the next file, instead of
 * returning them to the kernel, which would clear each page anew. */
void huge_pages_keep_freed(void);

#endif
