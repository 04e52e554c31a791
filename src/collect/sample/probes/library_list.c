/* The list of libraries. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "collect/sample/probes/libraries.h"

int libraries_add(struct libraries *libraries, const char *name, const char *path)
{
	struct stat status = { 0 };
	bool exists = stat(path, &status) == 0;
	for (size_t i = 0; i < libraries->count; i++) {
		const struct library *other = &libraries->items[i];
		if (strcmp(other->name, name) == 0 ||
		    (exists && other->device == status.st_dev && other->inode == status.st_ino))
			return 0;
	}
	if (ARRAY_RESERVE(libraries->items, libraries->capacity, libraries->count + 1) < 0)
		return ERROR_MEMORY;
	struct library library = {
		.name = strdup(name), .path = strdup(path), .device = status.st_dev, .inode = status.st_ino
	};
	if (!library.name || !library.path) {
		free(library.name);
		free(library.path);
		return ERROR_MEMORY;
	}
	libraries->items[libraries->count++] = library;
	return 0;
}

void libraries_release(struct libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++) {
		free(libraries->items[i].name);
		free(libraries->items[i].path);
	}
	free(libraries->items);
	*libraries = (struct libraries){ 0 };
}
