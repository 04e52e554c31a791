/* File names. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* The last component of a path; of one that ends in '/', the whole. Points into `path`. */
static inline const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Looks through PATH for an executable file, as a shell does; a name with a slash
 * is a path already. The caller frees it. NULL: there is none, or no memory. */
char *path_search(const char *name);

/* Opens a file that someone else may have put there, for reading: what is no regular
 * file (a FIFO would let us wait for ever, a terminal may become ours) is refused with
 * EISDIR or EINVAL. The descriptor is the caller's; -1: errno tells why. */
int path_open_regular(const char *path);

#endif
