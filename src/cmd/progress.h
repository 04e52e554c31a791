/*
 * Shows a line on standard error for work that takes long, if that is a terminal: "reading big.data ... 3 s". The
 * line is erased when the work is done.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_NAMING_AFTER_MS = 500 };

/* Begins one piece of work. The line appears if it takes longer than `after_ms`. `what` must be valid until
 * progress_end. A piece that begins within another one is part of it, and not shown. */
void progress_begin(const char *what, long after_ms);
/* Sets the progress, for work of a known amount. */
void progress_set(size_t done, size_t total);
/* Shows the download of a debug file in the line of the work that waits for it: "downloading the debug symbols of libfoo.so (3 of 17 MB)".
 * NULL: it is over. The parameters are as for frames_options.download. */
void progress_download(void *context, const char *path, uint64_t done, uint64_t total);
void progress_end(void);

/* Shows a line of its own on standard error, in place of the line before, if that is a terminal and this process is in its foreground. The
 * line ends at the right edge of the terminal. */
void progress_line(const char *text);
/* Erases it. */
void progress_line_end(void);

#endif
