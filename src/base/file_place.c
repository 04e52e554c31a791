#include "base/file_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part of the name that a temporary file's name contains; the rest fits within a file name's 255 bytes. */
enum { NAME_BYTES = 200 };

/* --- users --- */

/* Reads a number that sudo sets. Returns -1 if it is missing or no id, or if we are not root. */
static int64_t id_by_sudo(const char *variable)
{
	const char *text = geteuid() == 0 ? getenv(variable) : NULL;
	char *end;
	if (!text || *text < '0' || *text > '9')
		return -1;
	errno = 0;
	unsigned long long id = strtoull(text, &end, 10);
	return errno == 0 && *end == 0 && id < UINT32_MAX ? (int64_t)id : -1;
}

bool file_place_is_ours(uid_t owner)
{
	return owner == 0 || owner == geteuid() || (int64_t)owner == id_by_sudo("SUDO_UID");
}

bool file_place_caller(uid_t *user, gid_t *group)
{
	int64_t by_sudo = id_by_sudo("SUDO_UID"), group_by_sudo = id_by_sudo("SUDO_GID");
	if (by_sudo < 0 || group_by_sudo < 0)
		return false;
	*user = (uid_t)by_sudo;
	*group = (gid_t)group_by_sudo;
	return true;
}

/* --- the way to a file --- */

struct walk {
	int folder;          /* reached so far */
	char rest[PATH_MAX]; /* of the path */
	unsigned links;
	bool is_refused; /* the last link belongs to another user */
	bool no_name;    /* the path ends at the folder */
};

/* Opens the folder `name` in the current one, and takes its place. Returns false with errno set. */
static bool enter(struct walk *walk, int in, const char *name)
{
	int folder = openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return false;
	if (walk->folder >= 0)
		close(walk->folder);
	walk->folder = folder;
	return true;
}

static bool may_follow(const struct walk *walk, const struct stat *link, bool is_last)
{
	struct stat folder;
	if (file_place_is_ours(link->st_uid))
		return true;
	bool is_public = fstat(walk->folder, &folder) < 0 || (folder.st_mode & S_IWOTH);
	return !is_last && geteuid() != 0 && !is_public;
}

/* Continues with the text of a link in place of its name. Returns false with errno set. */
static bool follow(struct walk *walk, const char *name, const struct stat *link, const char *behind)
{
	enum { LINKS_MAX = 40 };
	char text[PATH_MAX], rest[PATH_MAX];
	if (!may_follow(walk, link, *behind == 0)) {
		walk->is_refused = true;
		errno = EACCES;
		return false;
	}
	ssize_t length = ++walk->links > LINKS_MAX ? -1 : readlinkat(walk->folder, name, text, sizeof(text) - 1);
	if (length < 0) {
		errno = walk->links > LINKS_MAX ? ELOOP : errno;
		return false;
	}
	text[length] = 0;
	if ((size_t)snprintf(rest, sizeof(rest), "%s%s", text, behind) >= sizeof(rest)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(walk->rest, rest, sizeof(rest));
	return text[0] != '/' || enter(walk, AT_FDCWD, "/");
}

/* Goes one step. Returns 1 if walk->rest is the name of the file (or walk->no_name is set), 0 if there are more steps,
 * or -1 with errno set. */
static int step(struct walk *walk)
{
	char name[NAME_MAX + 1], behind[PATH_MAX];
	struct stat status;
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");
	if (length == 0) {
		walk->no_name = true;
		return 1;
	}
	if (length > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, start);
	snprintf(behind, sizeof(behind), "%s", start + length);
	bool is_folder = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
	bool is_last = !behind[0] && !is_folder;
	if (!is_folder && fstatat(walk->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
		return follow(walk, name, &status, behind) ? 0 : -1;
	if (!is_last && !enter(walk, walk->folder, name))
		return -1;
	snprintf(walk->rest, sizeof(walk->rest), "%s", is_last ? name : behind);
	return is_last;
}

/* Returns the path for messages, or NULL if memory ran out. */
static char *path_for_messages(const struct walk *walk, const char *given, const char *name)
{
	char link[64], folder[PATH_MAX];
	char *path;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", walk->folder);
	ssize_t length = walk->links > 0 ? readlink(link, folder, sizeof(folder) - 1) : -1;
	if (length <= 0)
		return strdup(given);
	folder[length] = 0;
	return asprintf(&path, "%s/%s", folder[1] ? folder : "", name) < 0 ? NULL : path;
}

static int cannot_write(const struct walk *walk, const char *path, struct error *error)
{
	if (walk->is_refused)
		return error_set(error, ERROR_PERMISSION,
				 "cannot write '%s': it is, or leads through, a symbolic link of another user (-o FILE "
				 "writes elsewhere)",
				 path);
	return error_set_errno(error, walk->links ? "cannot write '%s', a symbolic link" : "cannot write '%s'", path);
}

int file_place_find(struct file_place *place, const char *path, struct error *error)
{
	struct walk walk = { .folder = -1 };
	*place = (struct file_place){ .folder = -1 };
	errno = ENAMETOOLONG;
	int result = (size_t)snprintf(walk.rest, sizeof(walk.rest), "%s", path) < sizeof(walk.rest) ? 0 : -1;
	if (result == 0 && !enter(&walk, AT_FDCWD, path[0] == '/' ? "/" : "."))
		result = -1;
	while (result == 0)
		result = step(&walk);
	if (result < 0) {
		result = cannot_write(&walk, path, error);
		if (walk.folder >= 0)
			close(walk.folder);
		return result;
	}
	place->folder = walk.folder;
	place->name = strdup(walk.no_name ? "" : walk.rest);
	place->path = place->name ? path_for_messages(&walk, path, place->name) : NULL;
	if (place->path)
		return 0;
	file_place_release(place);
	return error_memory(error);
}

void file_place_release(struct file_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	free(place->name);
	free(place->path);
	*place = (struct file_place){ .folder = -1 };
}

bool file_place_is_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	static const char *const names[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return false;
}

int file_place_create(const struct file_place *place, const char *name, int flags)
{
	int fd = openat(place->folder, name, flags | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
	int64_t user = fd < 0 ? -1 : id_by_sudo("SUDO_UID"), group = id_by_sudo("SUDO_GID");
	if (user >= 0 && fchown(fd, (uid_t)user, (gid_t)group) < 0)
		return fd; /* a file system without owners: it stays ours */
	return fd;
}

/* Returns whether a name is one that file_place_create_temporary makes for the place, by a process that has ended. */
static bool is_of_ended(const struct file_place *place, const char *entry)
{
	size_t length = strnlen(place->name, NAME_BYTES);
	if (entry[0] != '.' || strncmp(entry + 1, place->name, length) != 0 || entry[1 + length] != '.')
		return false;
	char *end;
	const char *number = entry + 2 + length;
	long pid = strtol(number, &end, 10);
	if (end == number || pid <= 0 || pid > INT_MAX)
		return false;
	if (*end == '-')
		end += 1 + strspn(end + 1, "0123456789");
	return strcmp(end, ".tmp") == 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Removes the temporary files that killed processes have left for this place. A file that is in
 * use is locked: a process of another container may have the number of none here. */
static void remove_left(const struct file_place *place)
{
	int folder = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	if (!entries) {
		if (folder >= 0)
			close(folder);
		return;
	}
	for (const struct dirent *entry; (entry = readdir(entries));) {
		struct stat status;
		if (!is_of_ended(place, entry->d_name))
			continue;
		int fd = openat(place->folder, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		    file_place_is_ours(status.st_uid) && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(place->folder, entry->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	closedir(entries);
}

int file_place_create_temporary(const struct file_place *place, int flags, char **name)
{
	enum { NAMES = 100 };
	int fd = -1;
	remove_left(place);
	for (int i = 0; i < NAMES && fd < 0; i++) {
		if (asprintf(name, ".%.*s.%d%s%.*d.tmp", NAME_BYTES, place->name, (int)getpid(), i ? "-" : "",
			     i ? 1 : 0, i) < 0) {
			*name = NULL;
			errno = ENOMEM;
			return -1;
		}
		fd = file_place_create(place, *name, flags);
		if (fd < 0) {
			int refusal = errno;
			free(*name);
			*name = NULL;
			errno = refusal;
		}
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	/* The lock shows that the file is in use: to remove_left, and to a recorded program that
	 * is linked with libcpprof and has the same output. */
	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* --- outputs --- */

int file_place_check(const struct file_place *place, bool *exists, struct stat *status, struct error *error)
{
	*exists = place->name[0] && fstatat(place->folder, place->name, status, AT_SYMLINK_NOFOLLOW) == 0;
	if (!place->name[0] || (*exists && S_ISDIR(status->st_mode)))
		return error_set(error, ERROR_USAGE, "cannot write '%s': it is a directory (-o FILE)", place->path);
	if (*exists && S_ISBLK(status->st_mode))
		return error_set(error, ERROR_USAGE, "cannot write '%s': it is a disk (-o FILE)", place->path);
	if (*exists && S_ISFIFO(status->st_mode) && !file_place_is_ours(status->st_uid))
		return error_set(error, ERROR_PERMISSION, "cannot write '%s': it is a FIFO of another user (-o FILE)",
				 place->path);
	return 0;
}

/* Gives a new file, which only its owner may read so far, its mode: `mode`, or the mode of our file
 * that it replaces, if others may read it. */
static void set_mode(int fd, const struct stat *old, mode_t mode)
{
	mode_t mask = umask(0);
	umask(mask);
	bool keeps = old && file_place_is_ours(old->st_uid) && (mode & (S_IRWXG | S_IRWXO));
	if (fchmod(fd, keeps ? old->st_mode & 0777 : mode & ~mask) < 0)
		return; /* a file system without modes */
}

/* Returns whether another user may have made the file for us to write to. */
static bool is_of_another(const struct file_place *place, int fd)
{
	struct stat file, folder;
	if (fstat(fd, &file) < 0 || fstat(place->folder, &folder) < 0)
		return true;
	bool is_exposed = S_ISFIFO(file.st_mode) || (S_ISREG(file.st_mode) && (folder.st_mode & S_IWOTH));
	return is_exposed && !file_place_is_ours(file.st_uid);
}

/* Opens what is at a place, by a descriptor that was examined: it may be another file by now,
 * such as a FIFO that blocks. Sets *is_refused if another user may have made it. Returns a
 * descriptor, or -1 with errno set. */
static int open_existing(const struct file_place *place, int flags, bool *is_refused)
{
	char self[64];
	int named = openat(place->folder, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (named < 0)
		return -1;
	*is_refused = is_of_another(place, named);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", named);
	errno = EACCES;
	int fd = *is_refused ? -1 : open(self, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
	int number = errno;
	close(named);
	errno = number;
	return fd;
}

static int refuse(const struct file_place *place, struct error *error)
{
	return error_set(error, ERROR_PERMISSION,
			 "cannot write '%s': it belongs to another user, in a folder that everybody may write",
			 place->path);
}

static int open_at(const struct file_place *place, mode_t mode, char **temporary, struct error *error)
{
	struct stat old;
	bool exists;
	int code = file_place_check(place, &exists, &old, error);
	if (code < 0)
		return code;
	int fd = -1;
	if (!exists || S_ISREG(old.st_mode)) {
		/* A file that may not be written is not replaced, either. */
		if (!exists || faccessat(place->folder, place->name, W_OK, 0) == 0)
			fd = file_place_create_temporary(place, O_WRONLY, temporary);
		if (fd >= 0)
			set_mode(fd, exists ? &old : NULL, mode);
	} else {
		bool is_refused = false;
		fd = open_existing(place, 0, &is_refused);
		if (is_refused)
			return refuse(place, error);
	}
	return fd < 0 ? error_set_errno(error, "cannot write '%s'", place->path) : fd;
}

int file_place_open(struct file_place *place, const char *path, mode_t mode, char **temporary, struct error *error)
{
	*place = (struct file_place){ .folder = -1 };
	*temporary = NULL;
	if (file_place_is_descriptor(path)) {
		int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		return fd < 0 ? error_set_errno(error, "cannot write '%s'", path) : fd;
	}
	int code = file_place_find(place, path, error);
	return code < 0 ? code : open_at(place, mode, temporary, error);
}

static int append_at(const struct file_place *place, mode_t mode, struct error *error)
{
	enum { TURNS = 10 };
	struct stat old;
	bool exists, is_refused = false;
	int code = file_place_check(place, &exists, &old, error), fd = -1;
	if (code < 0)
		return code;
	/* Another process may create or remove the file between the calls. */
	for (int turn = 0; turn < TURNS && fd < 0; turn++) {
		fd = open_existing(place, O_APPEND, &is_refused);
		if (fd < 0 && errno != ENOENT)
			break;
		if (fd < 0 && (fd = file_place_create(place, place->name, O_WRONLY | O_APPEND)) >= 0)
			set_mode(fd, NULL, mode);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (is_refused)
		return refuse(place, error);
	return fd < 0 ? error_set_errno(error, "cannot write '%s'", place->path) : fd;
}

int file_place_append(const char *path, mode_t mode, struct error *error)
{
	struct file_place place;
	if (file_place_is_descriptor(path)) {
		int fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
		return fd < 0 ? error_set_errno(error, "cannot write '%s'", path) : fd;
	}
	int code = file_place_find(&place, path, error);
	if (code < 0)
		return code;
	code = append_at(&place, mode, error);
	file_place_release(&place);
	return code;
}

int file_place_publish(const struct file_place *place, char **temporary)
{
	if (*temporary && renameat(place->folder, *temporary, place->folder, place->name) < 0)
		return -1;
	free(*temporary);
	*temporary = NULL;
	return 0;
}

void file_place_discard(const struct file_place *place, char **temporary)
{
	if (*temporary)
		unlinkat(place->folder, *temporary, 0);
	free(*temporary);
	*temporary = NULL;
}
