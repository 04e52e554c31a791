#include "profile_file/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_author.h"
#include "base/path.h"
#include "base/quote.h"

void source_release(struct source *source)
{
	if (source->fd > STDIN_FILENO)
		close(source->fd);
}

static void set_name(struct source *source, const char *name)
{
	const char *mark = quote_mark(name);
	snprintf(source->name, sizeof(source->name), "%s%.*s%s", mark, SOURCE_NAME_BYTES - 3, name, mark);
}

void source_open_bytes(struct source *source, const void *bytes, size_t size, const char *name)
{
	/* NULL would mean that the bytes are in a file. */
	*source = (struct source){ .bytes = bytes ? bytes : (const uint8_t *)"", .size = size, .fd = -1 };
	set_name(source, name);
}

int source_open(struct source *source, const char *path, struct error *error)
{
	bool standard = strcmp(path, "-") == 0;
	*source = (struct source){ 0 };
	set_name(source, standard ? "standard input" : path);
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
		code = error_set(error, ERROR_FORMAT, "%s is not a file that is read from its start", source->name);
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
