/* Memory that was freed, and that the C library keeps for later. */
#ifndef BASE_HEAP_TRIM_H
#define BASE_HEAP_TRIM_H

/* Returns it to the kernel, where the C library can: before processes are made that are copies of this one. */
void heap_trim(void);

#endif
