/* The rules for make that a compiler wrote while it read copies: in them, originals stand again. */
#ifndef COLLECT_SOURCE_COMPILE_DEPENDENCIES_H
#define COLLECT_SOURCE_COMPILE_DEPENDENCIES_H

#include <stddef.h>

#include "base/error.h"

/* A name that begins with `copy` begins with `original` instead. */
struct path_change {
	const char *copy, *original;
};

/*
 * Changes the names in a file of dependencies, and leaves out those in `dropped`, which NULL ends: the Profiler's headers,
 * which no build may depend on.
 * A file that is none is left as it is. 0, ERROR_MEMORY, or as error_set_errno.
 */
int dependencies_restore(const char *path, const struct path_change *changes, size_t count, const char *const *dropped,
			 struct error *error);

/* Replaces the names anywhere in a text of `size` bytes; the result is the caller's, with a NUL. NULL: no memory. */
char *text_restore(const char *text, size_t size, const struct path_change *changes, size_t count, size_t *new_size);

/* Returns a small file's bytes and a NUL, which the caller frees, or NULL and
 * sets errno (ENOMEM: no memory). */
char *text_read(const char *path, size_t *size);

#endif
