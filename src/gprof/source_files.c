#include "gprof/source_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "gprof/image.h"

void source_file_users(struct path_users *users, const struct image *image)
{
	uint64_t author = image ? image->author : 0;
	*users = (struct path_users){ .has_others = author == 0 };
	if (author)
		users->ids[users->count++] = (uid_t)(author - 1);
}

static FILE *open_text(const char *path, const struct path_users *users)
{
	int fd = path_open_for_users(path, users);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* The folder is the first `length` bytes of `folder`. */
static FILE *open_below(const char *folder, size_t length, const char *path, const struct path_users *users)
{
	for (const char *part = path; part;) {
		char *candidate = NULL;
		part += strspn(part, "/");
		if (asprintf(&candidate, "%.*s/%s", (int)length, folder, part) < 0)
			return NULL;
		FILE *file = open_text(candidate, users);
		free(candidate);
		if (file)
			return file;
		part = strchr(part, '/');
	}
	return NULL;
}

/* `list` contains folders: "/a:/b". */
static FILE *open_below_any(const char *list, const char *path, const struct path_users *users)
{
	FILE *file = NULL;
	while (*list && !file) {
		size_t length = strcspn(list, ":");
		if (length > 0 && length <= INT_MAX)
			file = open_below(list, length, path, users);
		list += length + (list[length] == ':');
	}
	return file;
}

FILE *source_file_open(const char *path, const char *const *folders, const struct path_users *users)
{
	FILE *file = open_text(path, users);
	int first_error = errno;
	for (size_t i = 0; !file && folders && folders[i]; i++)
		file = open_below_any(folders[i], path, users);
	if (!file)
		errno = first_error;
	return file;
}

static bool is_used(const struct source_names *used, const char *name)
{
	for (size_t i = 0; i < used->count; i++)
		if (strcmp(used->names[i], name) == 0)
			return true;
	return false;
}

/* Returns the n-th name for a copy, from 1, which the caller frees, or NULL if there is no memory. */
static char *copy_name(const char *path, unsigned n)
{
	char *name = NULL;
	int bytes = n == 1 ? asprintf(&name, "%s-ann", path_basename(path))
			   : asprintf(&name, "%s-ann.%u", path_basename(path), n);
	return bytes < 0 ? NULL : name;
}

int source_file_create_copy(struct source_names *used, const char *path, struct text_output *copy, struct error *error)
{
	char *candidate = copy_name(path, 1);
	for (unsigned n = 2; candidate && is_used(used, candidate); n++) {
		free(candidate);
		candidate = copy_name(path, n);
	}
	if (!candidate || ARRAY_RESERVE(used->names, used->capacity, used->count + 1) < 0) {
		free(candidate);
		return error_memory(error);
	}
	used->names[used->count++] = candidate;
	return text_output_open(copy, candidate, TEXT_OUTPUT_PRIVATE, error);
}

void source_names_release(struct source_names *used)
{
	for (size_t i = 0; i < used->count; i++)
		free(used->names[i]);
	free(used->names);
	*used = (struct source_names){ 0 };
}
