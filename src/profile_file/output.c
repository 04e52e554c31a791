#include "profile_file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
	int fd;          /* -1 once closed */
	char *path;      /* final name; for a stream: its name, for messages */
	char *old;       /* PATH.old; NULL for a stream */
	char *temporary; /* NULL: it is a stream, or was published */
	int64_t origin;  /* offset of our first byte; -1: not seekable */
	uint64_t size;
	bool is_standard; /* it is standard output */
};

enum { TEMPORARY_NAMES = 100 };

void output_free(struct output *output)
{
	if (!output)
		return;
	if (output->fd >= 0)
		close(output->fd);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->old);
	free(output->path);
	free(output);
}

bool output_is_stream(const struct output *output)
{
	return !output->old;
}

uint64_t output_size(const struct output *output)
{
	return output->size;
}

/* --- opening --- */

static int open_standard_output(struct output *output, struct error *error)
{
	if (isatty(STDOUT_FILENO))
		return error_set(error, ERROR_USAGE,
				 "cannot write to standard output: it is a terminal (-o FILE, or a pipe)");
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return output->fd < 0 ? error_set_errno(error, "cannot write to standard output") : 0;
}

static int open_stream(struct output *output, struct error *error)
{
	output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return output->fd < 0 ? error_set_errno(error, "cannot write to '%s'", output->path) : 0;
}

/* Whether another user owns the file, and its directory permits only owners to rename. */
static bool sticky_forbids(const struct stat *file, const char *path)
{
	char *directory = strdup(path);
	char *slash = directory ? strrchr(directory, '/') : NULL;
	struct stat status;
	if (slash)
		slash[slash == directory] = 0;
	bool forbids = directory && stat(slash ? directory : ".", &status) == 0 && (status.st_mode & S_ISVTX) &&
		       geteuid() != 0 && file->st_uid != geteuid() && status.st_uid != geteuid();
	free(directory);
	return forbids;
}

/* Reports what would make output_publish fail to rename, before the target runs. */
static int check_names(const struct output *output, struct error *error)
{
	struct stat file;
	if (lstat(output->path, &file) == 0 && sticky_forbids(&file, output->path))
		return error_set(error, ERROR_PERMISSION, "cannot replace '%s': it belongs to another user",
				 output->path);
	if (lstat(output->old, &file) < 0)
		return errno == ENOENT ? 0 : error_set_errno(error, "cannot keep the older file as '%s'", output->old);
	if (S_ISDIR(file.st_mode))
		return error_set(error, ERROR_USAGE,
				 "cannot keep the older file as '%s': that is a directory (-o FILE)", output->old);
	return 0;
}

static int open_temporary(struct output *output, struct error *error)
{
	const char *slash = strrchr(output->path, '/');
	int directory_length = slash ? (int)(slash - output->path) + 1 : 0;
	const char *name = output->path + directory_length;
	for (int i = 0; i < TEMPORARY_NAMES; i++) {
		/* 200 bytes of the name leave room for the rest within a file name's 255. */
		int length = asprintf(&output->temporary, "%.*s.%.200s.%d%s%.*d.tmp", directory_length, output->path,
				      name, (int)getpid(), i ? "-" : "", i ? 1 : 0, i);
		if (length < 0) {
			output->temporary = NULL;
			return error_set(error, ERROR_MEMORY, "out of memory");
		}
		output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (output->fd >= 0) {
			/* A recorded program that is linked with libcpprof may use a file of this name, too. The
			 * lock shows it that this file is still being written. */
			(void)flock(output->fd, LOCK_EX | LOCK_NB);
			return 0;
		}
		free(output->temporary);
		output->temporary = NULL;
		if (errno == EACCES || errno == EPERM || errno == EROFS)
			return error_set(error, ERROR_PERMISSION, "cannot write '%s': %s (-o FILE writes elsewhere)",
					 output->path, strerror(errno));
		if (errno != EEXIST)
			return error_set_errno(error, "cannot write '%s'", output->path);
	}
	return error_set(error, ERROR_LIMIT, "cannot write '%s': too many temporary files of it are left beside it",
			 output->path);
}

/* Follows a symbolic link, so that its target is replaced and the link remains. */
static int follow_link(struct output *output, struct error *error)
{
	struct stat status;
	if (lstat(output->path, &status) < 0 || !S_ISLNK(status.st_mode))
		return 0;
	char *real = realpath(output->path, NULL);
	if (!real)
		return error_set_errno(error, "cannot write '%s', a symbolic link", output->path);
	free(output->path);
	output->path = real;
	return 0;
}

static bool names_descriptor(const char *path)
{
	return strcmp(path, "/dev/stderr") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "/proc/self/fd/", 14) == 0;
}

static int open_named(struct output *output, struct error *error)
{
	struct stat status;
	bool exists = stat(output->path, &status) == 0;
	if (exists && S_ISDIR(status.st_mode))
		return error_set(error, ERROR_USAGE, "cannot write '%s': it is a directory (-o FILE)", output->path);
	if (exists && S_ISBLK(status.st_mode))
		return error_set(error, ERROR_USAGE, "cannot write '%s': it is a disk (-o FILE)", output->path);
	if (names_descriptor(output->path) || (exists && !S_ISREG(status.st_mode)))
		return open_stream(output, error);
	int code = follow_link(output, error);
	if (code < 0)
		return code;
	if (asprintf(&output->old, "%s.old", output->path) < 0) {
		output->old = NULL;
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	code = check_names(output, error);
	return code < 0 ? code : open_temporary(output, error);
}

struct output *output_open(const char *path, struct error *error)
{
	if (!*path) {
		error_set(error, ERROR_USAGE, "the name of the output file is empty (-o FILE)");
		return NULL;
	}
	bool standard = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
	struct output *output = calloc(1, sizeof(*output));
	if (output) {
		output->fd = -1;
		output->is_standard = standard;
		output->path = strdup(standard ? "standard output" : path);
	}
	if (!output || !output->path) {
		output_free(output);
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	if ((standard ? open_standard_output(output, error) : open_named(output, error)) < 0) {
		output_free(output);
		return NULL;
	}
	output->origin = lseek(output->fd, 0, SEEK_CUR);
	return output;
}

/* --- naming --- */

/* Returns false with EEXIST if another process has published under this name meanwhile. */
static bool take_name(const struct output *output)
{
	if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0)
		return true;
	/* Some file systems do not support RENAME_NOREPLACE. */
	return errno != EEXIST && rename(output->temporary, output->path) == 0;
}

int output_publish(struct output *output, struct error *error)
{
	if (!output->temporary)
		return 0;
	bool kept, taken;
	do {
		kept = rename(output->path, output->old) == 0;
		if (!kept && errno != ENOENT)
			return error_set_errno(error, "cannot keep the older file as '%s'", output->old);
		taken = take_name(output);
	} while (!taken && errno == EEXIST);
	if (!taken) {
		int code = error_set_errno(error, "cannot write '%s'", output->path);
		if (kept && rename(output->old, output->path) < 0)
			code = error_set_errno(error, "cannot write '%s'; the older file is now '%s'", output->path,
					       output->old);
		return code;
	}
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

/* --- writing --- */

/* Writes all bytes. Returns 0, or -1 with errno set, after which an unknown part was written. */
static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);
		if (written >= 0) {
			bytes += written;
			size -= (size_t)written;
		} else if (errno == EAGAIN) {
			/* Another process made the pipe non-blocking. */
			struct pollfd wait = { .fd = fd, .events = POLLOUT };
			if (poll(&wait, 1, -1) < 0 && errno != EINTR)
				return -1;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

static int write_error(const struct output *output, struct error *error)
{
	return output->is_standard ? error_set_errno(error, "cannot write to standard output")
				   : error_set_errno(error, "cannot write '%s'", output->path);
}

int output_write(struct output *output, const void *bytes, size_t size, struct error *error)
{
	if (output->fd < 0)
		return error_set(error, ERROR_USAGE, "%s is closed already", output->path);
	if (write_all(output->fd, bytes, size) == 0) {
		output->size += size;
		return 0;
	}
	int code = write_error(output, error);
	/* So that the earlier bytes stay readable. A stream cannot be cut, and need not be. */
	(void)output_cut(output, output->size);
	return code;
}

bool output_cut(struct output *output, uint64_t size)
{
	int64_t end = output->origin + (int64_t)size;
	if (output->fd < 0 || output->origin < 0 || ftruncate(output->fd, end) < 0 ||
	    lseek(output->fd, end, SEEK_SET) != end)
		return false;
	output->size = size;
	return true;
}

int output_close(struct output *output, struct error *error)
{
	int fd = output->fd;
	output->fd = -1;
	if (fd >= 0 && close(fd) < 0 && errno != EINTR)
		return write_error(output, error);
	return 0;
}
