/*
 * The analyses, as defined in docs/definitions.md. Each takes a view and gives a
 * list of entries, every path that got a hit, sorted by decreasing hits, ties
 * by the path: label texts compared one after the other, outermost first, a
 * path before its extensions; so that the same profile always prints the same
 * bytes. Threshold and limit are the printer's business.
 */
#ifndef ANALYZE_ANALYSES_H
#define ANALYZE_ANALYSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

struct path_entry {
	uint64_t hits;
	uint32_t node;   /* the list's business: see path_labels */
	uint32_t length; /* labels in the path */
};

/* A result. The paths are kept as a tree, not one by one: a million paths of a
 * deep recursion would have a hundred million labels. */
struct path_list {
	struct path_entry *entries;
	size_t count;

	struct path_node *nodes;
	size_t node_count;
	uint32_t *path; /* room for the longest path */
	bool upward;    /* `above` of a node leads inwards, from a path's outermost label */
};

/* The labels (indexes in view->labels) of an entry's path, outermost first:
 * entry->length of them, valid until the next call with this list. */
const uint32_t *path_labels(const struct path_list *list, const struct path_entry *entry);
void path_list_free(struct path_list *list); /* NULL is fine */

/* NULL: ERROR_MEMORY; ERROR_LIMIT: 2^32 paths;
 * ERROR_NOT_FOUND for a root that is no label of the view. Roots that have no
 * hits in the selection, or none at all, give an empty list. */
/* Each function once per sample in whose stack it occurs. */
struct path_list *analyze_functions(const struct view *view, struct error *error);
/* Only the innermost function of each sample. */
struct path_list *analyze_body(const struct view *view, struct error *error);
/* Paths that start at the outermost of the root labels; ... that end at the innermost. */
struct path_list *analyze_down(const struct view *view, const struct label_set *roots, struct error *error);
struct path_list *analyze_up(const struct view *view, const struct label_set *roots, struct error *error);

/* The error of a fraction: half width of the 95 % Wilson interval for
 * `hits` of `total`, from `samples` independent samples; 0 for exact data. */
double analyze_error(uint64_t hits, uint64_t total, uint64_t samples);

/* what-if: paths that start at the outermost occurrence of steps[0], folded as in
 * the downward profile, with one label of each step; and what their cost is
 * multiplied by. */
struct what_if {
	const struct label_set *steps;
	size_t length;
	double factor; /* 0: free, 0.5: halved; above 1: dearer (then no saving: < 0 never beats another) */
};
struct what_if_result {
	double predicted;   /* new total as a fraction of the old */
	uint64_t *affected; /* [count]: hits below each path; owned: free() */
};
/* Returns 0, or ERROR_MEMORY, ERROR_NOT_FOUND (a label that is none) or
 * ERROR_USAGE (an empty path, a factor below 0 or not finite), with nothing in
 * `result` to free. `predicted` of an empty selection is 1. */
int analyze_what_if(const struct view *view, const struct what_if *paths, size_t count, struct what_if_result *result,
		    struct error *error);

/* Source lines of a function, or of several. */
struct line_entry {
	uint32_t file;  /* string id of the profile */
	uint32_t line;  /* 0: not known */
	uint64_t body;  /* hits while this line was the innermost */
	uint64_t total; /* hits while this line or something it called executed, once per sample */
};
struct line_list {
	struct line_entry *entries; /* sorted by file text, line */
	size_t count;
	uint64_t total; /* H */
	uint64_t samples;
};
/* Lines executing in the functions with these labels of a by-function view,
 * in all frames, also those that the view trims. NULL: ERROR_MEMORY,
 * ERROR_USAGE (not a by-function view) or ERROR_NOT_FOUND (no such label). */
struct line_list *analyze_lines(const struct view *view, const struct label_set *functions, struct error *error);
/* How often the lines of these functions were executed, by a view of a resource that counts that: entries of all
 * lines that have code, of which those with 0 hits never were; body and total are the same. NULL: ERROR_MEMORY. */
struct line_list *analyze_line_counts(const struct view *view, const struct label_set *functions, struct error *error);
void line_list_free(struct line_list *list);

/* diff: entries of two lists over two views. Paths are matched by what each label
 * is, function by function, whatever else is called so in either profile: by the
 * function's name, and where that is not one function in both, by its module and
 * then its source file too. */
struct diff_entry {
	struct path_entry path; /* for path_labels of `paths`; its hits mean nothing */
	uint32_t order;         /* the path's rank among all */
	uint64_t hits_a, hits_b;
	double fraction_a, fraction_b;
	double gticks_a, gticks_b; /* hits x interval: comparable if intervals differ */
	double z;                  /* two-proportion test statistic, pooled; 0 if exact */
	int significant;           /* |z| >= 1.96, or exact and different */
};
struct diff_list {
	struct diff_entry *entries; /* by decreasing |fraction_b - fraction_a|, ties by path */
	size_t count;
	struct path_list *paths; /* their labels are numbers in `names` */
	const char **names;
	struct strings *texts;
};
/* Both lists are of one analysis, or at least both upward or both not. NULL:
 * ERROR_MEMORY, ERROR_LIMIT. */
struct diff_list *analyze_diff(const struct view *view_a, const struct path_list *a, const struct view *view_b,
			       const struct path_list *b, struct error *error);
void diff_list_free(struct diff_list *list);

#endif
