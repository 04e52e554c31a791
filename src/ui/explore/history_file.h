/* Where the history of the loop is kept. */
#ifndef UI_EXPLORE_HISTORY_FILE_H
#define UI_EXPLORE_HISTORY_FILE_H

#include <stdio.h>

/* The path of the history file; NULL: no place or no memory. free() it. */
char *history_file_path(void);

/* Opens a new file beside `path` for writing, mode 0600, and makes the folders
 * above it. NULL: not possible. */
FILE *history_file_create(const char *path);
/* Closes it and puts it in the place of the old one, unless a write failed. */
void history_file_commit(FILE *file, const char *path);

#endif
