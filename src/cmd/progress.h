/*
 * A line on standard error for work that takes long, if that is a terminal:
 * "reading big.data ... 3 s", wiped when the work is done.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stddef.h>

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_NAMING_AFTER_MS = 500 };

/* One piece of work at a time; the line is for one that takes over `after_ms`.
 * `what` must live until progress_end. */
void progress_begin(const char *what, long after_ms);
/* How far it is, for work that knows. */
void progress_set(size_t done, size_t total);
void progress_end(void);

#endif
