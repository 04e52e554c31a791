#include "collect/sample/state/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the rank of a line "hierarchy:controllers:path" as the answer: the higher the better, 0: it is
 * no such line. */
static int rank_of(const char *line)
{
	const char *controllers = strchr(line, ':');
	if (!controllers)
		return 0;
	if (strncmp(line, "0::", 3) == 0)
		return 3;
	return strncmp(controllers, ":name=systemd:", sizeof(":name=systemd:") - 1) == 0 ? 2 : 1;
}

void cgroup_parse(const char *text, char *path, size_t size)
{
	int best = 0;
	path[0] = 0;
	while (*text) {
		size_t length = strcspn(text, "\n");
		int rank = rank_of(text);
		const char *found = rank > best ? memchr(text, '/', length) : NULL;
		if (found) {
			snprintf(path, size, "%.*s", (int)(text + length - found), found);
			best = rank;
		}
		text += length + (text[length] == '\n');
	}
}

void cgroup_read(pid_t pid, char *path, size_t size)
{
	char name[64];
	char text[8192];
	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	path[0] = 0;
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return;
	text[got] = 0;
	cgroup_parse(text, path, size);
}
