#include "frames/jail/cache_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_set(const char *text)
{
	return text && text[0];
}

/* Writes the path that the client would choose. Returns whether it fits. */
static bool choose(char path[PATH_MAX])
{
	const char *given = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
	int bytes;
	if (is_set(given))
		return snprintf(path, PATH_MAX, "%s", given) < PATH_MAX;
	home = is_set(home) ? home : "";
	bytes = snprintf(path, PATH_MAX, "%s/.debuginfod_client_cache", home);
	if (bytes < PATH_MAX && access(path, F_OK) == 0) /* of old versions */
		return true;
	bytes = is_set(xdg) ? snprintf(path, PATH_MAX, "%s/debuginfod_client", xdg)
			    : snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client", home);
	return bytes < PATH_MAX;
}

/* Makes the folder and the folder above it, such as ~/.cache. Folders that exist stay as they are. */
static void make(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash && slash != path) {
		*slash = 0;
		mkdir(path, S_IRWXU);
		*slash = '/';
	}
	mkdir(path, S_IRWXU);
}

/* Returns whether only root and this user can replace what is in a folder; in a sticky one, others replace only their own. */
static bool is_safe(const char *folder)
{
	struct stat status;
	if (stat(folder, &status) < 0 || !S_ISDIR(status.st_mode))
		return false;
	bool is_ours = status.st_uid == 0 || status.st_uid == geteuid();
	return is_ours && (!(status.st_mode & (S_IWGRP | S_IWOTH)) || (status.st_mode & S_ISVTX));
}

/* Checks the folder and all above it. `path` has no symbolic links. */
static int check(char *path, struct error *error)
{
	if (geteuid() != 0)
		return 0;
	for (char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		char kept = slash[1];
		slash[1] = 0;
		bool is_fine = is_safe(path);
		slash[1] = kept;
		if (!is_fine)
			return error_set(error, ERROR_PERMISSION,
					 "root cannot use the cache '%.60s', which others may change", path);
	}
	return is_safe(path) ? 0
			     : error_set(error, ERROR_PERMISSION,
					 "root cannot use the cache '%.60s', which others may change", path);
}

int cache_folder_prepare(struct error *error)
{
	char path[PATH_MAX], real[PATH_MAX];
	if (!choose(path))
		return error_set(error, ERROR_LIMIT, "the path of the cache is too long");
	make(path);
	if (!realpath(path, real))
		return error_set_errno(error, "cannot make the cache '%.60s'", path);
	int status = check(real, error);
	if (status == 0 && setenv("DEBUGINFOD_CACHE_PATH", real, 1) < 0)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	return status;
}
