#include "profile_file/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_author.h"
#include "base/path.h"
#include "profile_file/format.h"

enum { PIPE_READ_BYTES = 64 * 1024 };

void source_release(struct source *source)
{
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	buffer_release(&source->owned);
}

static void set_name(struct source *source, const char *name)
{
	snprintf(source->name, sizeof(source->name), "'%.*s'", SOURCE_NAME_BYTES - 3, name);
}

void source_open_bytes(struct source *source, const void *bytes, size_t size, const char *name)
{
	/* NULL would mean that the bytes are in a file. */
	*source = (struct source){ .bytes = bytes ? bytes : (const uint8_t *)"", .size = size, .fd = -1 };
	set_name(source, name);
}

/* Returns whether the first bytes do not begin a profile. The rest may be endless, as in /dev/zero. */
static bool is_foreign(const struct source *source)
{
	return source->owned.size >= FORMAT_MAGIC_BYTES &&
	       memcmp(source->owned.bytes, FORMAT_MAGIC, FORMAT_MAGIC_BYTES) != 0;
}

static int read_pipe(struct source *source, struct error *error)
{
	for (;;) {
		size_t had = source->owned.size;
		uint8_t *next = buffer_extend(&source->owned, PIPE_READ_BYTES);
		if (!next)
			return error_set(error, ERROR_MEMORY, "cannot read %s: out of memory", source->name);
		ssize_t got = read(source->fd, next, PIPE_READ_BYTES);
		int number = errno;
		source->owned.size = had + (got > 0 ? (size_t)got : 0);
		if (got == 0 || is_foreign(source))
			break;
		errno = number;
		if (got < 0 && errno != EINTR)
			return error_set_errno(error, "cannot read %s", source->name);
	}
	source->bytes = source->owned.bytes;
	source->size = source->owned.size;
	return 0;
}

int source_open(struct source *source, const char *path, struct error *error)
{
	bool standard = strcmp(path, "-") == 0;
	*source = (struct source){ 0 };
	if (standard)
		snprintf(source->name, sizeof(source->name), "standard input");
	else
		set_name(source, path);
	source->fd = standard ? STDIN_FILENO : path_open_input(path, error);
	if (source->fd < 0)
		return source->fd;
	struct stat status;
	if (fstat(source->fd, &status) < 0) {
		int code = error_set_errno(error, "cannot read %s", source->name);
		source_release(source);
		return code;
	}
	int code = 0;
	if (S_ISREG(status.st_mode) && lseek(source->fd, 0, SEEK_CUR) == 0) {
		source->size = (uint64_t)status.st_size;
		source->owner = file_author(source->fd);
	} else {
		code = read_pipe(source, error);
	}
	if (code < 0)
		source_release(source);
	return code;
}

const uint8_t *source_read(const struct source *source, uint64_t offset, size_t size, struct buffer *buffer, int *code)
{
	if (source->bytes)
		return source->bytes + offset;
	buffer_clear(buffer);
	/* At least one byte, so that zero bytes are not NULL. */
	uint8_t *bytes = buffer_extend(buffer, size + 1);
	*code = ERROR_MEMORY;
	size_t done = 0;
	while (bytes && done < size) {
		ssize_t got = pread(source->fd, bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		*code = got < 0 ? ERROR_SYSTEM : ERROR_TRUNCATED;
		if (got <= 0)
			return NULL;
		done += (size_t)got;
	}
	return bytes;
}
