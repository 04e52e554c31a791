/* File names. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* Returns the last component of a path, as a pointer into `path`; the whole path if it ends in '/'. */
static inline const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Searches PATH for an executable file, as a shell does; a name with a slash is returned as it is. Returns a path
 * that the caller frees, or NULL if there is none, or no memory. */
char *path_search(const char *name);

/* Opens a file for reading that another user may have created. Refuses anything but a regular file with EISDIR or
 * EINVAL: to open a FIFO could block for ever, and a terminal could become our controlling terminal. Returns a
 * descriptor that the caller closes, or -1 with errno set. */
int path_open_regular(const char *path);

#endif
