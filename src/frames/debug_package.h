/* Where the debug symbols of a file of this machine come from, by the databases of its distribution. */
#ifndef FRAMES_DEBUG_PACKAGE_H
#define FRAMES_DEBUG_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { DEBUG_PACKAGE_BYTES = 200 };

struct debug_package {
	char name[DEBUG_PACKAGE_BYTES]; /* the package with its debug symbols; "": not known */
	bool is_searched; /* the database of packages was searched to its end: a file that is not in it belongs to no package */
	const char *server; /* of the distribution's debuginfod */
};

/* Searches below the folder `root` ("" but in tests): /etc/os-release, and dpkg's lists of files, for at most two seconds. `path` is the path of
 * the file in the system. */
void debug_package_find(const char *root, const char *path, struct debug_package *package);

#endif
