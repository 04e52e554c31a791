/* Where the source files of an image are now, and where their annotated copies go. */
#ifndef GPROF_SOURCE_FILES_H
#define GPROF_SOURCE_FILES_H

#include <stdio.h>

/*
 * Opens a source file by its path in the debug information. If it is not there: below each of the folders
 * (NULL-terminated; NULL: none; each may be several, "/a:/b"), by its path, then by ever fewer of its last parts:
 *
 *	/build/x/src/fib.c, -I /home/me/x    /home/me/x/build/x/src/fib.c ... /home/me/x/src/fib.c, /home/me/x/fib.c
 *
 * NULL: it is nowhere, or there is no memory; errno is that of the path itself.
 */
FILE *source_file_open(const char *path, const char *const *folders);

/* Makes NAME-ann in the current folder, for a path's last part; NULL: errno. A name that a copy of this run has
 * already (`used`) becomes NAME-ann.2 and so on. *name: `used` owns it. */
struct source_names {
	char **names; /* owned */
	size_t count, capacity;
};
FILE *source_file_create_copy(struct source_names *used, const char *path, const char **name);
void source_names_release(struct source_names *used);

#endif
