/* File names. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
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
 * EINVAL, and does not open it: to open a FIFO could block for ever or release its writer, and devices act when they are
 * opened. Returns a descriptor that the caller closes, or -1 with errno set. */
int path_open_regular(const char *path);

/* From now on, path_open_regular opens only files below the current folder: it refuses absolute paths, "..", and links, with EACCES,
 * ELOOP, ENOTDIR or EINVAL. There is no way back. */
void path_confine(void);
/* Whether path_confine was called: then every file whose name comes from outside must be opened by path_open_regular. */
bool path_is_confined(void);

/* The same for a path below the folder `root`, which another user may have filled: links to folders lead nowhere outside of it, and a
 * link to a file is refused. ENOSYS: this kernel is older than Linux 5.6. */
int path_open_regular_below(int root, const char *path);

#endif
