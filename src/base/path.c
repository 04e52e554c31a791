#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_place.h"

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

/* Returns 0 if the descriptor is one of a regular file, or an errno. */
static int refusal(int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return errno;
	return S_ISREG(status.st_mode) ? 0 : S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
}

/* Opens the file for reading that a descriptor of O_PATH names. Returns -1 with errno set; ENOENT: there is no /proc. */
static int reopen(int named)
{
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", named);
	return open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Without /proc, the path is opened again: it may name another file by now, which is checked after it was opened. */
static int open_checked(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int number = fd < 0 ? errno : refusal(fd);
	if (number == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = number;
	return -1;
}

/* Opens the file that a descriptor of O_PATH names, and closes that. `path`: where it is, or NULL. */
static int open_named(int named, const char *path)
{
	if (named < 0)
		return -1;
	int number = refusal(named);
	int fd = number == 0 ? reopen(named) : -1;
	if (number == 0 && fd < 0)
		number = errno;
	close(named);
	if (fd >= 0)
		return fd;
	if (number == ENOENT && path)
		return open_checked(path);
	errno = number;
	return -1;
}

static bool is_confined;

void path_confine(void)
{
	is_confined = true;
}

bool path_is_confined(void)
{
	return is_confined;
}

/* Returns a descriptor of O_PATH, reached without a link, or -1 with errno set. The last descriptor may be a link's. */
static int name_confined(const char *path)
{
	int folder = -1, number = *path == '/' ? EACCES : *path ? 0 : ENOENT;
	while (number == 0) {
		size_t length = strcspn(path, "/"), blank = strspn(path + length, "/");
		char name[NAME_MAX + 1];
		bool is_last = path[length + blank] == 0;
		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		if (length > NAME_MAX || strcmp(name, "..") == 0) {
			number = length > NAME_MAX ? ENAMETOOLONG : EACCES;
			break;
		}
		int next = openat(folder < 0 ? AT_FDCWD : folder, name,
				  O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_last && !blank ? 0 : O_DIRECTORY));
		number = next < 0 ? errno : 0;
		if (folder >= 0)
			close(folder);
		folder = next;
		path += length + blank;
		if (is_last)
			break;
	}
	if (number != 0 && folder >= 0)
		close(folder);
	errno = number;
	return number == 0 ? folder : -1;
}

int path_open_regular(const char *path)
{
	if (is_confined)
		return open_named(name_confined(path), NULL);
	return open_named(open(path, O_PATH | O_CLOEXEC), path);
}

int path_open_input(const char *path, struct error *error)
{
	bool is_own = !is_confined && file_place_is_descriptor(path);
	int fd = is_own ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : path_open_regular(path);
	if (fd < 0 && errno == EINVAL)
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot read '%s': it is not a regular file (/dev/stdin reads a pipe)", path);
	return fd < 0 ? error_set_errno(error, "cannot read '%s'", path) : fd;
}

/* --- files for users who may have chosen the path --- */

static bool is_of_kernel(int named)
{
	static const unsigned long kinds[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
					       SECURITYFS_MAGIC };
	struct statfs system;
	if (fstatfs(named, &system) < 0)
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((unsigned long)system.f_type == kinds[i])
			return true;
	return false;
}

static bool is_of_system(const char *path)
{
	static const char *const folders[] = { "/etc/", "/proc/", "/sys/", "/dev/", "/run/" };
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

/* `bit`: S_IROTH or S_IXOTH. */
static bool all_may(const struct stat *status, mode_t bit, const struct path_users *users)
{
	enum { OWNER_SHIFT = 6, GROUP_SHIFT = 3 };
	const mode_t all = bit | bit << GROUP_SHIFT; /* a group may be refused what others may */
	uid_t own = geteuid();
	bool may = !users->has_others || own != 0 || (status->st_mode & all) == all;
	for (size_t i = 0; i < users->count && may; i++) {
		uid_t user = users->ids[i];
		/* The kernel decides what we may, when the file is opened. */
		if (user != 0 && user != own)
			may = user == status->st_uid ? status->st_mode & (bit << OWNER_SHIFT)
						     : (status->st_mode & all) == all;
	}
	return may;
}

/* Goes from the root along a path without links, and checks each folder. Returns whether it leads to the file `wanted`. */
static bool all_reach(const char *path, const struct stat *wanted, const struct path_users *users)
{
	struct stat status;
	int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool may = at >= 0;
	while (may && *path) {
		size_t length = strcspn(++path, "/");
		char name[NAME_MAX + 1];
		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		may = length <= NAME_MAX && fstat(at, &status) == 0 && all_may(&status, S_IXOTH, users);
		int next = may ? openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
		close(at);
		at = next;
		may = at >= 0;
		path += length;
	}
	may = may && fstat(at, &status) == 0 && status.st_dev == wanted->st_dev && status.st_ino == wanted->st_ino &&
	      all_may(&status, S_IROTH, users);
	if (at >= 0)
		close(at);
	return may;
}

static bool all_may_read(int named, const struct path_users *users)
{
	char self[64], path[PATH_MAX];
	struct stat status;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", named);
	ssize_t length = fstat(named, &status) == 0 ? readlink(self, path, sizeof(path) - 1) : -1;
	if (length <= 0)
		return false;
	path[length] = 0;
	return path[0] == '/' && !is_of_system(path) && !is_of_kernel(named) && all_reach(path, &status, users);
}

int path_open_for_users(const char *path, const struct path_users *users)
{
	int named = is_confined ? name_confined(path) : open(path, O_PATH | O_CLOEXEC);
	if (named >= 0 && !all_may_read(named, users)) {
		close(named);
		errno = EACCES;
		return -1;
	}
	return open_named(named, NULL);
}

int path_open_regular_below(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	return open_named((int)syscall(SYS_openat2, root, path, &how, sizeof(how)), NULL);
}
