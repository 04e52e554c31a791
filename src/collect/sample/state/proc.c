#include "collect/sample/state/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * 1234 (name) S 2 0 ...
 * field 1, 2, 3, 4, ...
 *
 * A name may have blanks and parentheses.
 */
bool proc_stat_parse(const char *text, enum proc_stat_field field, uint64_t *value)
{
	enum { NAME = 2 };
	const char *at = strrchr(text, ')');
	for (int i = NAME; i < (int)field && at; i++)
		at = strchr(at + 1, ' ');
	char *end = NULL;
	if (at)
		*value = strtoull(at + 1, &end, 10);
	return end && end != at + 1;
}

bool proc_stat_read(uint32_t pid, enum proc_stat_field field, uint64_t *value)
{
	char text[1024];
	snprintf(text, sizeof(text), "/proc/%" PRIu32 "/stat", pid);
	int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	return proc_stat_parse(text, field, value);
}

/* Returns whether both processes have the same object at a name below /proc/PID. */
static bool shares(pid_t pid, const char *name)
{
	char theirs[64], ours[64];
	struct stat a, b;
	snprintf(theirs, sizeof(theirs), "/proc/%d/%s", (int)pid, name);
	snprintf(ours, sizeof(ours), "/proc/self/%s", name);
	return stat(theirs, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool process_has_bytes(pid_t pid, uint64_t address, const void *bytes, size_t size)
{
	uint8_t here[PROCESS_BYTES_MOST];
	struct iovec local = { here, size };
	struct iovec remote = { (void *)(uintptr_t)address, size }; /* NOLINT(performance-no-int-to-ptr) */
	return size <= sizeof(here) && process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size &&
	       memcmp(here, bytes, size) == 0;
}

uint32_t process_user_read(pid_t pid)
{
	char path[64], line[256];
	unsigned user;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = shares(pid, "ns/mnt") && shares(pid, "root") ? fopen(path, "re") : NULL;
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "Uid: %u", &user) == 1;
	if (file)
		fclose(file);
	return found ? user + 1 : 0;
}

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
