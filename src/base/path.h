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

#endif
