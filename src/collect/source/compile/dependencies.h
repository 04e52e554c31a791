/* Replaces copies by originals in the rules for make that a compiler wrote when it compiled copies. */
#ifndef COLLECT_SOURCE_COMPILE_DEPENDENCIES_H
#define COLLECT_SOURCE_COMPILE_DEPENDENCIES_H

#include <stddef.h>

#include "base/error.h"

/* A name that begins with `copy` is changed to begin with `original`. */
struct path_change {
	const char *copy, *original;
};

/*
 * Changes the names in a file of dependencies, and removes those in `dropped`, which ends with NULL: the Profiler's
 * headers, on which no build may depend. Does nothing if the file cannot be read. Returns 0, ERROR_MEMORY, or a
 * negative error as error_set_errno.
 */
int dependencies_restore(const char *path, const struct path_change *changes, size_t count, const char *const *dropped,
			 struct error *error);

/* Replaces the names anywhere in a text of `size` bytes. Returns the new text, with a NUL at its end, which the
 * caller frees, or NULL if there is no memory. */
char *text_restore(const char *text, size_t size, const struct path_change *changes, size_t count, size_t *new_size);

/* Returns a small file's bytes and a NUL, which the caller frees, or NULL and
 * sets errno (ENOMEM: no memory). */
char *text_read(const char *path, size_t *size);

/* Writes a file. Returns 0, or an error as error_set_errno. */
int text_write(const char *path, const char *text, size_t size, struct error *error);

#endif
