/*
 * Results: the typed data of a report, before an output format is chosen. render/ prints a result by its type; other
 * users read its fields.
 *
 * Life cycle: a `struct results` starts as {0}, grows by calls of reports/report.h and reports/diff.h, and ends with
 * results_release.
 */
#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/analyses.h"
#include "analyze/instructions.h"
#include "analyze/kernel_work.h"
#include "analyze/label_groups.h"
#include "analyze/lookup.h"
#include "analyze/own_code.h"
#include "analyze/pages.h"
#include "analyze/shares.h"
#include "analyze/view.h"
#include "base/error.h"
#include "gprof/truth.h"

enum result_type {
	RESULT_NAMES,        /* entries are single names: `paths` */
	RESULT_PATHS,        /* entries are call paths: `paths` */
	RESULT_TREE,         /* `tree` */
	RESULT_LINES,        /* source lines with hits: `lines` */
	RESULT_LINE_COUNTS,  /* source lines with executions: `lines` */
	RESULT_INSTRUCTIONS, /* machine code with hits: `instructions` */
	RESULT_PAGES,        /* touched memory: `pages` */
	RESULT_LABELS,       /* shares of label sets: `labels` */
	RESULT_SHARES,       /* shares of threads or processes: `shares` */
	RESULT_HOT_LINES,    /* source lines of all files, most hits of their own first: `lines` */
	RESULT_SUMMARY,      /* bodies in `paths`, own code in `own`, hot lines in `lines`, processes in `shares` */
	RESULT_CALL_GRAPH,   /* functions, their callers and callees: `truth` */
	RESULT_WHAT_IF,      /* `terms` and `prediction` */
	RESULT_DIFF,         /* changes between recordings, the first of which is `view`: `changes` */
	RESULT_TYPES,
};

/* One result, for one resource and one selection. results_release frees all that it owns. `view` belongs
 * to the results or to the caller's report_source. Members that the type does not name are NULL. */
struct result {
	enum result_type type;
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

	/* Owned. */
	struct path_list *paths;
	const struct view *tree; /* `view` or `subtree`; not owned */
	struct view *subtree;
	struct line_list *lines;               /* may be NULL */
	struct instruction_list *instructions; /* may be NULL */
	struct page_list *pages;
	struct label_group_list *labels;
	struct share_list *shares;
	struct own_code *own;
	struct kernel_work *kernel;
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

/* Appends an empty result. Returns NULL and sets `error` if memory is exhausted. */
struct result *results_add(struct results *results, struct error *error);
/* Takes ownership of `view`, which is freed with the results. Returns it, or NULL if `view` is NULL or memory is
 * exhausted (sets `error` and frees the view). */
const struct view *results_keep_view(struct results *results, struct view *view, struct error *error);
/* Releases the result that was added last. */
void results_drop_last(struct results *results);
void results_release(struct results *results);

#endif
