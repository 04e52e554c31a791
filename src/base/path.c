#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *path_search(const char *name)
{
	if (strchr(name, '/'))
		return strdup(name);
	const char *path = getenv("PATH");
	char found[PATH_MAX];
	for (const char *at = path ? path : "/usr/local/bin:/bin:/usr/bin"; at;) {
		size_t length = strcspn(at, ":");
		snprintf(found, sizeof(found), "%.*s%s%s", (int)length, at, length ? "/" : "./", name);
		struct stat status;
		if (stat(found, &status) == 0 && S_ISREG(status.st_mode) && access(found, X_OK) == 0)
			return strdup(found);
		at = at[length] ? at + length + 1 : NULL;
	}
	return NULL;
}

int path_open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	if (fd < 0)
		return -1;
	int number = fstat(fd, &status) < 0     ? errno
		     : S_ISDIR(status.st_mode)  ? EISDIR
		     : !S_ISREG(status.st_mode) ? EINVAL
						: 0;
	if (number == 0)
		return fd;
	close(fd);
	errno = number;
	return -1;
}
