/*
 * Reads compile_commands.json: the command that compiles each source of a project, as CMake, meson and bear write
 * it.
 *
 *     [{"directory": "/build", "file": "../src/a.c", "command": "gcc -c ../src/a.c"}, {..., "arguments": ["gcc", ...]}]
 */
#ifndef COLLECT_SOURCE_COMPILE_DATABASE_H
#define COLLECT_SOURCE_COMPILE_DATABASE_H

#include <stddef.h>

#include "base/error.h"

struct database_entry {
	char *directory; /* NULL: the current one */
	char *file;      /* unchanged: relative to `directory` */
	char **words;    /* [word_count], then NULL: the compiler and its arguments */
	size_t word_count;
};

struct database {
	struct database_entry *entries;
	size_t entry_count, entry_capacity;
};

/* Reads the file, or compile_commands.json in a folder. Returns 0, ERROR_FORMAT with
 * "FILE: reason", or an error as error_set_errno. The caller releases
 * *database in any case. */
int database_read(struct database *database, const char *path, struct error *error);
/* The same for a text. */
int database_parse(struct database *database, const char *name, const char *text, size_t size, struct error *error);
void database_release(struct database *database);

/* Returns the entry of a source under any of its names (links are followed), or NULL if there is none. */
const struct database_entry *database_find(const struct database *database, const char *path);

#endif
