#include "gprof/source_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/path.h"
#include "gprof/image.h"

/* Refuses a folder, which fopen opens, too, and which would read as an empty file. */
static FILE *open_text(const char *path)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	if (file && (fstat(fileno(file), &status) != 0 || S_ISDIR(status.st_mode))) {
		fclose(file);
		errno = ENOENT;
		return NULL;
	}
	return file;
}

/* The folder is the first `length` bytes of `folder`. */
static FILE *open_below(const char *folder, size_t length, const char *path)
{
	for (const char *part = path; part;) {
		char *candidate = NULL;
		part += strspn(part, "/");
		if (asprintf(&candidate, "%.*s/%s", (int)length, folder, part) < 0)
			return NULL;
		FILE *file = open_text(candidate);
		free(candidate);
		if (file)
			return file;
		part = strchr(part, '/');
	}
	return NULL;
}

/* `list` contains folders: "/a:/b". */
static FILE *open_below_any(const char *list, const char *path)
{
	FILE *file = NULL;
	while (*list && !file) {
		size_t length = strcspn(list, ":");
		if (length > 0 && length <= INT_MAX)
			file = open_below(list, length, path);
		list += length + (list[length] == ':');
	}
	return file;
}

FILE *source_file_open(const char *path, const char *const *folders)
{
	FILE *file = open_text(path);
	int first_error = errno;
	for (size_t i = 0; !file && folders && folders[i]; i++)
		file = open_below_any(folders[i], path);
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

FILE *source_file_create_copy(struct source_names *used, const char *path, const char **name)
{
	char *candidate = copy_name(path, 1);
	for (unsigned n = 2; candidate && is_used(used, candidate); n++) {
		free(candidate);
		candidate = copy_name(path, n);
	}
	*name = NULL;
	if (!candidate || ARRAY_RESERVE(used->names, used->capacity, used->count + 1) < 0) {
		free(candidate);
		errno = ENOMEM;
		return NULL;
	}
	used->names[used->count++] = candidate;
	*name = candidate;
	return fopen(candidate, "we");
}

void source_names_release(struct source_names *used)
{
	for (size_t i = 0; i < used->count; i++)
		free(used->names[i]);
	free(used->names);
	*used = (struct source_names){ 0 };
}
