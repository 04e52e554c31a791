/* File names, as text. */
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

#endif
