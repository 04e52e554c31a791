/*
 * Results: what a report found, typed, before any format is chosen. render/
 * prints a result by its type; other consumers read its fields.
 *
 * Life cycle: a `struct results` starts as {0}, grows by calls of
 * reports/report.h and reports/diff.h, and ends with results_release.
 */
#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/analyses.h"
#include "analyze/label_groups.h"
#include "analyze/lookup.h"
#include "analyze/pages.h"
#include "analyze/view.h"
#include "base/error.h"
#include "gprof/truth.h"

enum result_type {
	RESULT_NAMES,       /* entries are single names: `paths` */
	RESULT_PATHS,       /* ... call paths: `paths` */
	RESULT_TREE,        /* `tree` */
	RESULT_LINES,       /* source lines with hits: `lines` */
	RESULT_LINE_COUNTS, /* source lines with executions: `lines` */
	RESULT_PAGES,       /* touched memory: `pages` */
	RESULT_LABELS,      /* shares of label sets: `labels` */
	RESULT_CALL_GRAPH,  /* functions, their callers and callees: `truth` */
	RESULT_WHAT_IF,     /* `terms` and `prediction` */
	RESULT_DIFF,        /* changes from `view` to `other`: `changes` */
	RESULT_TYPES,
};

/* One result, for one resource and one selection. Everything that it owns is
 * freed by results_release; `view` and `other` belong to the results or to the
 * caller's source of views. Members that the type does not name are NULL. */
struct result {
	enum result_type type;
	const char *heading; /* "Function Profile"; static */
	const struct view *view;
	const struct view *other; /* RESULT_DIFF: profile B */
	char *root;               /* owned; the function that the report is about, NULL: none */

	/* The view is of one group of labels: that group, and how many groups behind
	 * the last section of a resource have none. */
	bool is_section;
	struct label_group section;
	size_t sections_left_out;

	/* code != 0: this resource does not have what was asked for; the result is
	 * empty. A what-if cannot be printed then. */
	struct error missing;
	const char *note; /* a sentence for the user beside the result, or NULL; static */

	/* Owned. */
	struct path_list *paths;
	const struct view *tree; /* `view`, or `subtree` */
	struct view *subtree;
	struct line_list *lines; /* NULL: none */
	struct page_list *pages;
	struct label_group_list *labels;
	struct truth *truth;
	struct lookup_what_if terms;
	struct what_if_result prediction;
	struct diff_list *changes;
};

struct results {
	struct result *items;
	size_t count, capacity;
	struct view **views; /* owned */
	size_t view_count, view_capacity;
};

/* A new, empty result behind the others. NULL: ERROR_MEMORY in `error`. */
struct result *results_add(struct results *results, struct error *error);
/* Takes the view over: frees it with the results, at once if there is no
 * memory (NULL: ERROR_MEMORY in `error`). `view` NULL stays NULL. */
const struct view *results_keep_view(struct results *results, struct view *view, struct error *error);
void results_release(struct results *results);

#endif
