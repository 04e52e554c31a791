#include "base/path.h"

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
