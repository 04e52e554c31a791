#include "ui/explore/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *history_file_path(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	char *path = NULL;
	int length = -1;
	/* The XDG specification requires that a relative path is ignored. */
	if (state && *state == '/')
		length = asprintf(&path, "%s/cpprof/history", state);
	else if (home && *home == '/')
		length = asprintf(&path, "%s/.local/state/cpprof/history", home);
	return length < 0 ? NULL : path;
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700); /* if it fails, opening the file fails too */
		*slash = '/';
	}
}

static char *new_path(const char *path)
{
	char *new = NULL;
	return asprintf(&new, "%s.%ld", path, (long)getpid()) < 0 ? NULL : new;
}

FILE *history_file_create(const char *path)
{
	char *new = new_path(path);
	if (!new)
		return NULL;
	make_folders(new);
	int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !file) {
		close(fd);
		unlink(new);
	}
	free(new);
	return file;
}

void history_file_commit(FILE *file, const char *path)
{
	char *new = new_path(path);
	int failed = ferror(file);
	failed |= fclose(file);
	if (new && (failed || rename(new, path)))
		unlink(new);
	free(new);
}
