/*
 * The source files whose lines a screen shows, and the columns in front of these lines.
 *
 * Life cycle: source_files_init, source_files_get for each path, source_files_release. A zeroed struct may be released.
 */
#ifndef UI_BROWSE_SOURCE_FILES_H
#define UI_BROWSE_SOURCE_FILES_H

#include "render/source_text.h"
#include "ui/browse/browser.h"

struct source_file {
	const char *path; /* of the caller */
	struct source_text text;
	bool is_missing;
};

struct source_files {
	struct source_file *files; /* owned */
	size_t count;
	struct file_users access;
};

/* Makes room for `limit` files. Returns 0 or ERROR_MEMORY. */
int source_files_init(struct source_files *files, size_t limit, struct error *error);
void source_files_release(struct source_files *files);

/* Returns the file, which is read when it first occurs, and which `files` owns. It is missing if it cannot be read, or has no path. */
const struct source_file *source_files_get(struct source_files *files, const struct profile *profile, const char *path);

/* Returns line number `line`, or "" if there is none. */
const char *source_file_line(const struct source_file *file, uint32_t line);

/* Draws "own" and "with callees", the heads of the two columns of draw_hits. Returns the column behind them. */
int draw_hits_head(const struct browser *browser, int row);
/* Draws a row's hits of its own and with callees, and nothing for 0. Returns the style for the rest of the row. */
unsigned draw_hits(const struct browser *browser, int row, unsigned style, const struct view *view, uint64_t own,
		   uint64_t with_callees);

#endif
