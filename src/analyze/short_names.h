/*
 * The short names of a set of functions, such as the functions of one view: the rule of base/short_name.h, and what keeps two functions distinct
 * (docs/languages.md). Each name is shown at the first stage from BARE on that fits and that no other name of the set has as well; where
 * there is none, at a longer stage that fits; where there is none either, with its number among the names of equal text: "f<…>#2".
 *
 * Life cycle: short_names_new or short_names_of_view, any number of short_names_append, short_names_free. What a stage looks like for
 * all names is computed when a name first needs the stage.
 */
#ifndef ANALYZE_SHORT_NAMES_H
#define ANALYZE_SHORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/buffer.h"
#include "base/short_name.h"

struct short_names;

/* A name and what follows it: "qsort" in "qsort@process_db.c:88". */
struct short_names_item {
	const char *text; /* not owned; distinct */
	uint32_t name_length;
};

/* Copies the items, but not their texts. Returns NULL if memory is exhausted. */
struct short_names *short_names_new(const struct short_names_item *items, size_t count);
/* The labels of a view, in its order. Those that are no functions (modules, groups) are only cut. */
struct short_names *short_names_of_view(const struct view *view);
void short_names_free(struct short_names *names); /* accepts NULL */

/* Appends name number `index` in at most `columns`. An error of memory is kept in the buffer. */
void short_names_append(struct short_names *names, size_t index, size_t columns, struct buffer *to);

/* Finds the names that are shown as `text` in some width; "..." in it stands for "…". Writes their numbers to `found` [count], in
 * increasing order. Returns their number, or ERROR_MEMORY. */
int64_t short_names_find(struct short_names *names, const char *text, uint32_t *found);

#endif
