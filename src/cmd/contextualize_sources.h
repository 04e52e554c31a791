/* The sources that `cpprof contextualize` reads, and the patch that it writes. */
#ifndef CMD_CONTEXTUALIZE_SOURCES_H
#define CMD_CONTEXTUALIZE_SOURCES_H

#include "collect/source/compile/database.h"
#include "collect/source/contextualize/contextualize.h"

struct sources {
	struct database database;
	struct program program;
	const char **paths; /* owned by the caller */
	size_t path_count;
	char **flags; /* an optional compiler and its options, for `paths`; not owned */
	size_t flag_count;
};

/* Parses `paths` [path_count], or all sources of the database (NULL: none). Set the other members first. Returns 0 or a negative
 * error; ERROR_USAGE if there is no source. Call sources_release in any case. */
int sources_read(struct sources *sources, const char *database, struct error *error);
void sources_release(struct sources *sources);

/* Splits "main;uniquify_db;qsort" in place. Returns the number of names, or 0 if there are more than `max`. */
size_t sources_split_path(char *path, const char **names, size_t max);

/* Writes a unified diff of the changed files, whose names are below the working folder, to `path` (NULL: standard output).
 * Where a file is formatted by the .clang-format that applies to it, and clang-format is installed, the changed file is formatted
 * too. Returns 0 or a negative error. */
int sources_write_patch(const struct contextualize_result *result, const char *title, const char *path,
			struct error *error);

#endif
