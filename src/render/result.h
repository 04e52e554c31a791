/*
 * Results: the typed data of a report, before an output format is chosen. The functions of its type print it; other users
 * read its fields.
 *
 * Life cycle: a `struct results` starts as {0}, grows by calls of reports/report.h and reports/diff.h, and ends with
 * results_release.
 */
#ifndef RENDER_RESULT_H
#define RENDER_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/analyses.h"
#include "analyze/kernel_work.h"
#include "analyze/label_groups.h"
#include "analyze/own_code.h"
#include "analyze/shares.h"
#include "analyze/view.h"
#include "base/error.h"

struct render_document;
struct result;

/* Prints a result. render_failed (render/emit.h) notes that memory is exhausted. */
typedef void result_printer(struct render_document *document, const struct result *result);

/* How results of one type are printed and freed. A report defines it beside the functions that build the result. */
struct result_type {
	result_printer *text;
	result_printer *table;         /* as JSON and CSV, through a sheet (render/emit.h) */
	void (*free_data)(void *data); /* NULL: it has none */
};

/* One result, for one resource and one selection. results_release frees all that it owns. `view` belongs
 * to the results or to the caller's report_source. */
struct result {
	const struct result_type *type;
	const char *heading; /* "Function Profile"; static */
	const struct view *view;
	char *root; /* owned: the function that the report is about; NULL: none */

	/* If the view is of one group of labels: that group and, in the last section of a resource, the number of groups
	 * that have no section. */
	bool is_section;
	struct label_group section;
	size_t sections_left_out;

	/* code != 0: the resource does not have the requested data, and the result is empty. A what-if cannot be printed
	 * then. */
	struct error missing;
	const char *note; /* a sentence for the user about the result, or NULL; static */

	/* Owned: of a corrected resource (profile/companion.h), the error of each entry of `paths` or `shares`, or node of `tree`, in gticks. */
	uint64_t *errors;

	/* Owned: what several types of results have, or other users read. Members that a type does not have are NULL. */
	struct path_list *paths;
	const struct view *tree; /* `view` or `subtree`; not owned */
	struct view *subtree;
	struct line_list *lines; /* may be NULL */
	struct share_list *shares;
	struct own_code *own;
	struct kernel_work *kernel;
	struct diff_list *changes;
	void *data; /* what only the type's own functions, and users that name its report, read; may be NULL */
};

struct results {
	struct result *items;
	size_t count, capacity;
	struct view **views; /* owned */
	size_t view_count, view_capacity;
};

/* Appends an empty result. Returns NULL and sets `error` if memory is exhausted. */
struct result *results_add(struct results *results, struct error *error);
/* Takes ownership of `view`, which is freed with the results. Returns it, or NULL if `view` is NULL or memory is
 * exhausted (sets `error` and frees the view). */
const struct view *results_keep_view(struct results *results, struct view *view, struct error *error);
/* Releases the result that was added last. */
void results_drop_last(struct results *results);
void results_release(struct results *results);

#endif
