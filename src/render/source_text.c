#include "render/source_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"

enum { PATH_BYTES = 4096, SOURCE_BYTES_MAX = 256 << 20 };

/* The files that are tried for a path. */
struct search {
	struct path_users users;
	int fd;
	bool is_refused; /* there is one that the users may not read */
};

static bool try(struct search *search, const char *path)
{
	search->fd = path_open_for_users(path, &search->users);
	search->is_refused |= search->fd < 0 && errno == EACCES;
	return search->fd >= 0;
}

/* Opens the file at the recorded path, in the directory where the program ran, or, for a tree that was moved or
 * built elsewhere, at shorter and shorter ends of its path below the current directory. */
static void open_somewhere(struct search *search, const char *path, const char *directory)
{
	char joined[PATH_BYTES];
	bool found = try(search, path);
	if (!found && directory && path[0] != '/' &&
	    snprintf(joined, sizeof(joined), "%s/%s", directory, path) < (int)sizeof(joined))
		found = try(search, joined);
	for (const char *rest = strchr(path, '/'); !found && rest; rest = strchr(rest, '/')) {
		rest++;
		if (*rest && *rest != '/')
			found = try(search, rest);
	}
}

static int read_all(int fd, char **bytes, size_t *size)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > SOURCE_BYTES_MAX)
		return ERROR_NOT_FOUND;
	*bytes = malloc((size_t)status.st_size + 1);
	if (!*bytes)
		return ERROR_MEMORY;
	*size = 0;
	while (*size < (size_t)status.st_size) {
		ssize_t got = read(fd, *bytes + *size, (size_t)status.st_size - *size);
		if (got <= 0)
			break;
		*size += (size_t)got;
	}
	(*bytes)[*size] = 0;
	return 0;
}

/* Cuts the bytes into lines in place. */
static int split(struct source_text *source, size_t size)
{
	size_t capacity = 0;
	char *next = source->bytes, *end = source->bytes + size;
	while (next < end) {
		if (ARRAY_RESERVE(source->lines, capacity, source->count + 1) < 0)
			return ERROR_MEMORY;
		source->lines[source->count++] = next;
		char *newline = memchr(next, '\n', (size_t)(end - next));
		char *stop = newline ? newline : end;
		next = stop + 1;
		if (stop > source->lines[source->count - 1] && stop[-1] == '\r')
			stop--;
		*stop = 0;
	}
	return 0;
}

int source_text_open(struct source_text *source, struct file_users *access, const struct profile *profile,
		     const char *path)
{
	*source = (struct source_text){ 0 };
	struct search search = { .fd = -1 };
	if (!path[0])
		return ERROR_NOT_FOUND;
	if (file_users_find(access, profile, path, &search.users) < 0)
		return ERROR_MEMORY;
	open_somewhere(&search, path, profile_note(profile, "directory"));
	if (search.fd < 0)
		return search.is_refused ? ERROR_PERMISSION : ERROR_NOT_FOUND;
	size_t size = 0;
	int result = read_all(search.fd, &source->bytes, &size);
	close(search.fd);
	if (result == 0)
		result = split(source, size);
	if (result < 0)
		source_text_release(source);
	return result;
}

void source_text_release(struct source_text *source)
{
	free(source->bytes);
	free(source->lines);
	*source = (struct source_text){ 0 };
}
