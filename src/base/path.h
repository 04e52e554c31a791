/* Paths: their last component, the search in PATH, and opening files whose paths come from a profile or another user. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include "base/error.h"

/* Returns the last component of a path, as a pointer into `path`; the whole path if it ends in '/'. */
static inline const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Searches PATH for an executable file, as a shell does; a name with a slash is returned as it is. Returns a path
 * that the caller frees, or NULL if there is none, or no memory. */
char *path_search(const char *name);

/* Opens a file for reading that another user may have created. Refuses anything but a regular
 * file with EISDIR or EINVAL, and does not open it: to open a FIFO could block for ever or
 * release its writer, and devices act when they are opened. Returns a descriptor that the caller
 * closes, or -1 with errno set. */
int path_open_regular(const char *path);

/* Opens a file for reading that the user names as an input: a regular file, or one of our own descriptors, as /dev/stdin or a shell's
 * <(COMMAND), which may be a pipe. Refuses all else, because to read a FIFO could last for ever. Returns a descriptor that the caller
 * closes, or a negative error. */
int path_open_input(const char *path, struct error *error);

enum { PATH_USERS_MOST = 64 };

/* The users who may have chosen a path. */
struct path_users {
	uid_t ids[PATH_USERS_MOST];
	size_t count;
	bool has_others; /* ... and users who are not known */
};

/* The same for a path that these users may have chosen, so that it must not show them more than
 * they may read: refuses with EACCES a file that one of them cannot read or reach, by the owners
 * and the mode bits of the file and of the folders on its path. Group bits count for nobody. A
 * user who is not known may read what everybody may, or, where we are not root, what we may.
 * Also refuses files below /etc, /proc, /sys, /dev and /run, wherever links lead from, and files
 * of the kernel. Needs /proc. */
int path_open_for_users(const char *path, const struct path_users *users);

/* From now on, path_open_regular and path_open_for_users open only files below the current
 * folder: it refuses absolute paths, "..", and links, with EACCES, ELOOP, ENOTDIR or EINVAL.
 * There is no way back. */
void path_confine(void);
/* Whether path_confine was called: then every file whose name comes from outside must be opened by path_open_regular. */
bool path_is_confined(void);

/* The same for a path below the folder `root`, which another user may have filled: links to
 * folders lead nowhere outside of it, and a link to a file is refused. ENOSYS: this kernel is
 * older than Linux 5.6. */
int path_open_regular_below(int root, const char *path);

#endif
