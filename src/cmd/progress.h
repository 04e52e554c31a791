/*
 * A line on standard error for work that takes over a second, if that is a
 * terminal: "reading big.data ... 3 s", wiped when the work is done.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stddef.h>

/* One piece of work at a time. `what` must live until progress_end. */
void progress_begin(const char *what);
/* How far it is, for work that knows. */
void progress_set(size_t done, size_t total);
void progress_end(void);

#endif
