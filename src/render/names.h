/*
 * Names and call paths in rows of a terminal. With options->columns, names are shortened by the rule of docs/languages.md and paths are cut in
 * their middle; without, all is printed in full.
 *
 * Life cycle: name_printer_init or name_printer_init_texts, printing, name_printer_release.
 */
#ifndef RENDER_NAMES_H
#define RENDER_NAMES_H

#include "analyze/short_names.h"
#include "render/render.h"

struct name_printer {
	FILE *out;
	const struct view *view;              /* NULL: `items` has the names */
	const struct short_names_item *items; /* not owned */
	size_t columns;
	const struct render_options *options; /* not owned */
	struct short_names *short_names;      /* owned; NULL: names are printed in full */
	struct buffer text;
};

/* The names are the labels of a view. If memory is exhausted, names are printed in full, and render_result fails. */
void name_printer_init(struct name_printer *printer, FILE *out, const struct view *view,
		       const struct render_options *options);
/* The names belong to the items, which stay the caller's. */
void name_printer_init_texts(struct name_printer *printer, FILE *out, const struct short_names_item *items,
			     size_t count, const struct render_options *options);
void name_printer_release(struct name_printer *printer);

/* Prints a name in at most `columns`. */
void name_print(struct name_printer *printer, uint32_t index, size_t columns);

/* Returns the columns that a row has left beside what uses `used` of them. */
size_t name_room(const struct name_printer *printer, size_t used);

/* Prints names with a separator between them in at most `columns`: "main ... 3 frames ... parse read". */
void path_print(struct name_printer *printer, const uint32_t *names, size_t count, const char *separator,
		size_t columns);

/* Prints two names with text between them in at most `columns`. */
void names_print_pair(struct name_printer *printer, uint32_t first, const char *between, uint32_t second,
		      size_t columns);

/* Prints text that begins in a column, as much as fits into the terminal's row; a tab is four blanks. Without a terminal, all. */
void rest_print(FILE *out, const char *text, size_t column, const struct render_options *options);

#endif
