/* Finds the source files of an image, and names their annotated copies. */
#ifndef GPROF_SOURCE_FILES_H
#define GPROF_SOURCE_FILES_H

#include <stdio.h>

#include "base/path.h"
#include "base/text_output.h"

struct image;

/* Sets the users who may have made a program, and so have chosen the paths of its sources. NULL: not known. */
void source_file_users(struct path_users *users, const struct image *image);

/*
 * Opens a source file by its path in the debug information. If it is not there, searches each of the folders
 * (NULL-terminated, or NULL; each may be several, "/a:/b") for its path, then for fewer and fewer of the path's last
 * components:
 *
 * 	/build/x/src/fib.c, -I /home/me/x    /home/me/x/build/x/src/fib.c ... /home/me/x/src/fib.c, /home/me/x/fib.c
 *
 * Opens no file that one of the users may not read. Returns NULL if the file is not found or there
 * is no memory; errno then concerns the path itself.
 */
FILE *source_file_open(const char *path, const char *const *folders, const struct path_users *users);

/* Opens NAME-ann in the current folder, where NAME is the last component of `path`. If this run
 * has created a copy of that name already (`used`), the name becomes NAME-ann.2 and so on.
 * Returns 0 or a negative error, with `error` set. */
struct source_names {
	char **names; /* owned */
	size_t count, capacity;
};
int source_file_create_copy(struct source_names *used, const char *path, struct text_output *copy, struct error *error);
void source_names_release(struct source_names *used);

#endif
