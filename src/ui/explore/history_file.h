/* The history file of the loop. */
#ifndef UI_EXPLORE_HISTORY_FILE_H
#define UI_EXPLORE_HISTORY_FILE_H

#include <stdio.h>

/* Returns the path of the history file, which the caller frees, or NULL if there is no folder for it or memory is
 * exhausted. */
char *history_file_path(void);

/* Creates a new file beside `path` with mode 0600, opens it for writing, and makes the folders above it. Returns
 * NULL on failure. */
FILE *history_file_create(const char *path);
/* Closes the new file and replaces the old one with it, unless a write failed. */
void history_file_commit(FILE *file, const char *path);

#endif
