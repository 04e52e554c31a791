/* The file with the history of the loop. */
#ifndef UI_EXPLORE_HISTORY_FILE_H
#define UI_EXPLORE_HISTORY_FILE_H

#include <stdio.h>

/* Returns the path of the history file, which the caller frees, or NULL if
 * there is no folder for it or no memory. */
char *history_file_path(void);

/* Opens a new file beside `path` for writing, mode 0600, and makes the folders
 * above it. NULL: not possible. */
FILE *history_file_create(const char *path);
/* Closes it and replaces the old one by it, unless a write failed. */
void history_file_commit(FILE *file, const char *path);

#endif
