#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/agent.h"
#include "cmd/message.h"

/* Makes a folder and those above it. The error is that of the first one that cannot be made. */
static int make_folder(const char *folder, struct error *error)
{
	const mode_t mode = 0700;
	char *path = strdup(folder);
	int number = EEXIST;
	for (char *slash = path ? strchr(path + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		int failed = mkdir(path, mode) < 0 ? errno : EEXIST;
		*slash = '/';
		number = number == EEXIST ? failed : number;
	}
	free(path);
	if (mkdir(folder, mode) == 0 || errno == EEXIST)
		return 0;
	errno = errno == ENOENT && number != EEXIST ? number : errno;
	return error_set_errno(error, "cannot make folder '%s'", folder);
}

/* Returns whether a process has ended and its parent has not waited for it. */
static bool is_zombie(pid_t pid)
{
	char text[256]; /* "PID (NAME) STATE ...", of which the name may contain anything */
	snprintf(text, sizeof(text), "/proc/%d/stat", (int)pid);
	int fd = open(text, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = 0;
	const char *end = strrchr(text, ')');
	return end && (strncmp(end, ") Z", 3) == 0 || strncmp(end, ") X", 3) == 0);
}

/* Returns whether the process that a lock names has ended. */
static bool is_left_over(int fd)
{
	char text[32];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	text[got > 0 ? got : 0] = 0;
	pid_t pid = (pid_t)strtol(text, NULL, 10);
	return pid > 0 && ((kill(pid, 0) < 0 && errno == ESRCH) || is_zombie(pid));
}

/* Takes the lock. The recorders of an agent that was killed have it until they end, and they end soon. */
static bool take_lock(int fd, const struct invocation *invocation)
{
	enum { TRIES = 600 };
	const struct timespec wait = { .tv_nsec = 100000000 };
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK || i == TRIES || !is_left_over(fd))
			return false;
		if (i == 0)
			notice(invocation, "waiting for the recorder of an agent that was killed");
		nanosleep(&wait, NULL);
	}
	return true;
}

int agent_spool_open(const char *folder, const struct invocation *invocation, int *lock_fd, struct error *error)
{
	const mode_t mode = 0600;
	if (make_folder(folder, error) < 0)
		return error->code;
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*lock_fd = at < 0 ? -1 : openat(at, "agent.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
	int number = errno;
	if (at >= 0)
		close(at);
	errno = number;
	if (*lock_fd < 0)
		return error_set_errno(error, "cannot use spool '%s'", folder);
	if (!take_lock(*lock_fd, invocation))
		return error_set(error, ERROR_SYSTEM,
				 "cannot use spool '%s': another agent uses it (--spool FOLDER names another one)",
				 folder);
	if (ftruncate(*lock_fd, 0) < 0 || dprintf(*lock_fd, "%d\n", (int)getpid()) < 0)
		return error_set_errno(error, "cannot use spool '%s'", folder);
	return 0;
}

bool agent_spool_is_slice(const char *path, const char *ending)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(name), bytes = strlen(ending);
	return strncmp(name, SLICE_BEGINNING, strlen(SLICE_BEGINNING)) == 0 && length > bytes &&
	       strcmp(name + length - bytes, ending) == 0;
}

void agent_spool_visit(const char *folder, agent_file *visit, void *context)
{
	DIR *stream = opendir(folder);
	for (struct dirent *at = stream ? readdir(stream) : NULL; at; at = readdir(stream))
		visit(context, dirfd(stream), at->d_name);
	if (stream)
		closedir(stream);
}
