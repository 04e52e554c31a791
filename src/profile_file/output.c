#include "profile_file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_place.h"

struct output {
	int fd;                /* -1 once closed, and if the bytes go to memory */
	struct buffer *memory; /* not owned; NULL: the bytes go to `fd` */
	char *path;            /* for messages: of the file, or the name of a stream; NULL for memory */
	struct file_place place;
	char *old;       /* name in place.folder of the older file, "NAME.old"; NULL for a stream */
	char *temporary; /* name there until the output is published; NULL: it is a stream, or was published */
	int64_t origin;  /* offset of our first byte; -1: not seekable */
	uint64_t size;
	bool is_standard; /* it is standard output */
};

void output_free(struct output *output)
{
	if (!output)
		return;
	if (output->fd >= 0)
		close(output->fd);
	if (output->temporary)
		unlinkat(output->place.folder, output->temporary, 0);
	file_place_release(&output->place);
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

struct output *output_to_memory(struct buffer *memory)
{
	struct output *output = calloc(1, sizeof(*output));
	if (!output)
		return NULL;
	*output = (struct output){ .fd = -1, .memory = memory, .origin = -1, .place.folder = -1 };
	return output;
}

static int open_standard_output(struct output *output, struct error *error)
{
	if (isatty(STDOUT_FILENO))
		return error_set(error, ERROR_USAGE,
				 "cannot write to standard output: it is a terminal (-o FILE, or a pipe)");
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return output->fd < 0 ? error_set_errno(error, "cannot write to standard output") : 0;
}

static int open_stream(struct output *output, int folder, const char *name, int flags, struct error *error)
{
	output->fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
	return output->fd < 0 ? error_set_errno(error, "cannot write to '%s'", output->path) : 0;
}

/* Whether another user owns the file, and its folder permits only owners to rename. */
static bool sticky_forbids(const struct output *output, const struct stat *file)
{
	struct stat folder;
	return fstat(output->place.folder, &folder) == 0 && (folder.st_mode & S_ISVTX) && geteuid() != 0 &&
	       file->st_uid != geteuid() && folder.st_uid != geteuid();
}

static int cannot_keep(const struct output *output, struct error *error)
{
	return error_set_errno(error, "cannot keep the older file as '%s.old'", output->path);
}

/* Reports what would make output_publish fail to rename, before the target runs. */
static int check_names(const struct output *output, struct error *error)
{
	struct stat file;
	if (fstatat(output->place.folder, output->place.name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	    sticky_forbids(output, &file))
		return error_set(error, ERROR_PERMISSION, "cannot replace '%s': it belongs to another user",
				 output->path);
	if (fstatat(output->place.folder, output->old, &file, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : cannot_keep(output, error);
	if (S_ISDIR(file.st_mode))
		return error_set(error, ERROR_USAGE,
				 "cannot keep the older file as '%s.old': that is a directory (-o FILE)", output->path);
	return 0;
}

static int open_temporary(struct output *output, struct error *error)
{
	output->fd = file_place_create_temporary(&output->place, O_WRONLY, &output->temporary);
	if (output->fd >= 0)
		return 0;
	if (errno == ENOMEM)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (errno == EEXIST)
		return error_set(error, ERROR_LIMIT,
				 "cannot write '%s': too many temporary files of it are left beside it", output->path);
	if (errno == EACCES || errno == EPERM || errno == EROFS)
		return error_set(error, ERROR_PERMISSION, "cannot write '%s': %s (-o FILE writes elsewhere)",
				 output->path, strerror(errno));
	return error_set_errno(error, "cannot write '%s'", output->path);
}

/* Takes the place of the output and, for messages, its path. Returns 0 or a negative error. */
static int find_place(struct output *output, struct error *error)
{
	int code = file_place_find(&output->place, output->path, error);
	if (code < 0)
		return code;
	char *path = strdup(output->place.path);
	if (!path)
		return error_set(error, ERROR_MEMORY, "out of memory");
	free(output->path);
	output->path = path;
	return 0;
}

static int open_named(struct output *output, struct error *error)
{
	struct stat status;
	if (file_place_is_descriptor(output->path))
		return open_stream(output, AT_FDCWD, output->path, 0, error);
	int code = find_place(output, error);
	if (code < 0)
		return code;
	const struct file_place *place = &output->place;
	bool exists;
	code = file_place_check(place, &exists, &status, error);
	if (code < 0)
		return code;
	if (exists && !S_ISREG(status.st_mode))
		return open_stream(output, place->folder, place->name, O_NOFOLLOW, error);
	if (asprintf(&output->old, "%s.old", place->name) < 0) {
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
		output->place.folder = -1;
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
	int folder = output->place.folder;
	if (renameat2(folder, output->temporary, folder, output->place.name, RENAME_NOREPLACE) == 0)
		return true;
	/* Some file systems do not support RENAME_NOREPLACE. */
	return errno != EEXIST && renameat(folder, output->temporary, folder, output->place.name) == 0;
}

int output_publish(struct output *output, struct error *error)
{
	int folder = output->place.folder;
	if (!output->temporary)
		return 0;
	bool kept, taken;
	do {
		kept = renameat(folder, output->place.name, folder, output->old) == 0;
		if (!kept && errno != ENOENT)
			return cannot_keep(output, error);
		taken = take_name(output);
	} while (!taken && errno == EEXIST);
	if (!taken) {
		int code = error_set_errno(error, "cannot write '%s'", output->path);
		if (kept && renameat(folder, output->old, folder, output->place.name) < 0)
			code = error_set_errno(error, "cannot write '%s'; the older file is now '%s.old'", output->path,
					       output->path);
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
	if (output->memory) {
		buffer_append(output->memory, bytes, size);
		output->size += size;
		return buffer_error(output->memory) < 0 ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
	}
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
