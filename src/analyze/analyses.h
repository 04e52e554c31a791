/*
 * The analyses that docs/definitions.md defines. Each takes a view and returns a list of entries, one for each path
 * that has a hit; of a view with zeros, one for each path. Entries are sorted by decreasing hits; those with equal hits by their paths: label texts are
 * compared one after the other, outermost first, and a path precedes its extensions. The same profile therefore
 * always prints the same bytes. Thresholds and limits are applied by the printers.
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
	uint32_t node;   /* private to the list: see path_labels */
	uint32_t length; /* labels in the path */
};

/* A result. The paths are stored as a tree, because a million paths of a deep recursion would have a hundred million
 * labels. */
struct path_list {
	struct path_entry *entries;
	size_t count;

	struct path_node *nodes;
	size_t node_count;
	uint32_t *path; /* scratch of path_labels, with room for the longest path */
	bool upward;    /* path_node.above leads inwards, from a path's outermost label */
};

/* Returns the labels of an entry's path, outermost first: entry->length indexes in view->labels. They are valid
 * until the next call with this list. */
const uint32_t *path_labels(const struct path_list *list, const struct path_entry *entry);
/* Returns whether the first path is the second and one label more: at its end or, in an upward list, at its beginning. */
bool path_extends(const struct path_list *list, const struct path_entry *longer, const struct path_entry *path);
void path_list_free(struct path_list *list); /* accepts NULL */

/* The next four return a list that the caller frees, or NULL: ERROR_MEMORY; ERROR_LIMIT for 2^32 paths;
 * ERROR_NOT_FOUND if a root is not a label of the view. An empty set of roots, or roots that have no hits in the
 * selection, give an empty list. */
/* The function profile: a function gets a sample's hits once if it occurs in the sample's stack. */
struct path_list *analyze_functions(const struct view *view, struct error *error);
/* The body profile: only the innermost function of each sample gets its hits. */
struct path_list *analyze_body(const struct view *view, struct error *error);
/* The same, but a wait counts for the function that entered the kernel (kernel_wait_labels). `view` is by function. */
struct path_list *analyze_body_and_waits(const struct view *view, struct error *error);
/* Downward: the paths that start at the outermost frame with a root label. Upward: those that end at the innermost
 * one. */
struct path_list *analyze_down(const struct view *view, const struct label_set *roots, struct error *error);
struct path_list *analyze_up(const struct view *view, const struct label_set *roots, struct error *error);

/* Returns the error of a fraction: half the width of the 95 % Wilson interval for `hits` of `total`, from `samples`
 * independent samples (view.independent). Returns 0 for exact data (`samples` is 0). */
double analyze_error(uint64_t hits, uint64_t total, double samples);

/* what-if: a set of paths and the factor by which their cost is multiplied. The paths start at the outermost
 * occurrence of steps[0], are folded as in the downward profile, and have one label of each step. */
struct what_if {
	const struct label_set *steps;
	size_t length;
	double factor; /* 0: free; 0.5: halved; above 1: more expensive, that is a negative saving */
};
struct what_if_result {
	double predicted;   /* new total as a fraction of the old */
	uint64_t *affected; /* [count]: hits below each path; the caller frees it */
};
/* Returns 0, or ERROR_MEMORY, ERROR_NOT_FOUND (a label that the view does not have) or ERROR_USAGE (an empty path,
 * or a factor that is negative or not finite). On error, `result` owns nothing. `predicted` is 1 for an empty
 * selection. */
int analyze_what_if(const struct view *view, const struct what_if *paths, size_t count, struct what_if_result *result,
		    struct error *error);

/* Source lines of one or several functions. */
struct line_entry {
	uint32_t file;  /* string id in the profile */
	uint32_t line;  /* 0: unknown */
	uint64_t body;  /* hits while this line was the innermost; or what is charged to it */
	uint64_t total; /* hits while this line or a callee of it executed, once per sample */
};
struct line_list {
	struct line_entry *entries; /* sorted by the file's text, then by line */
	size_t count;
	uint64_t total;     /* H: the hits of the selection */
	double independent; /* as in the view */
};
/* Returns the lines that executed in the functions with these labels of a by-function view. Counts all frames,
 * including those that the view trims. Returns NULL on error: ERROR_MEMORY, ERROR_USAGE (not a by-function view) or
 * ERROR_NOT_FOUND (no such label). */
struct line_list *analyze_lines(const struct view *view, const struct label_set *functions, struct error *error);
/* The same, but `body` is the hits that are charged to the line: the hits of the samples whose innermost frame of one of these
 * functions is at the line. */
struct line_list *analyze_charged_lines(const struct view *view, const struct label_set *functions,
					struct error *error);
/* The lines of all functions together, without the lines that have no hits of their own: most of these first, then most hits,
 * then by file and line. */
struct line_list *analyze_hot_lines(const struct view *view, struct error *error);
/* The charged lines of own code (own_code.h), without those that nothing is charged to, in the same order. */
struct line_list *analyze_hot_own_lines(const struct view *view, struct error *error);
/* Returns how often each line of these functions was executed. The view must be by function, of a resource that
 * counts lines. Every line that has code gets an entry; one with 0 hits was never executed. `body` and `total` are
 * equal. Returns NULL: ERROR_MEMORY. */
struct line_list *analyze_line_counts(const struct view *view, const struct label_set *functions, struct error *error);
void line_list_free(struct line_list *list);

/* diff: the entries of the lists of two sides, A and B, each of one recording or several. Paths match if their labels have equal
 * identities, label by label (identity.h): the function's name, with its module and then its source file where the name alone
 * is ambiguous in any profile. The texts of the labels may differ. docs/definitions.md defines the figures. */
enum diff_sides { DIFF_A, DIFF_B, DIFF_SIDES };

/* One recording: a view, and a list of its paths. All lists come from the same analysis, or are at least all upward or all
 * downward. */
struct diff_run {
	const struct view *view;
	const struct path_list *paths;
	/* The gticks that all amounts of all recordings are scaled to, so that only shares are compared; 0: they are not scaled. The same
	 * for all recordings of a comparison. */
	double scaled_to;
	/* The stated standard deviation of the totals of equal programs from run to run, as a fraction (0.05). The same for all recordings.
	 * It is used if single sampled recordings are compared, and not scaled. */
	double spread;
};

struct diff_entry {
	struct path_entry path;      /* for path_labels of `paths`; its hits have no meaning */
	uint32_t order;              /* the path's rank among all paths */
	uint64_t hits[DIFF_SIDES];   /* sum over the recordings of the side */
	double fraction[DIFF_SIDES]; /* mean over the recordings */
	double gticks[DIFF_SIDES];   /* mean of hits x interval: comparable when intervals differ */
	double error;                /* half width of the 95 % interval of the change of gticks; NAN: unknown */
	double z; /* change / its standard deviation: Student's t with several recordings; 0 for exact data */
	/* the probability of at least this difference between equal programs; NAN: not tested, as all the hits together
	 * are too few, or the data is exact */
	double p;
	bool significant; /* set by diff_mark */
	bool exceeds;     /* set by diff_gate */
};

struct lookup_what_if;

struct diff_list {
	struct diff_entry *entries; /* by decreasing change of gticks, ties by path */
	size_t count;
	struct path_list *paths; /* their labels are indexes in `names` */
	const char **names;
	struct strings *texts;
	uint32_t **of_label;       /* owned, per recording and label of its view: an index in `names` */
	const struct view **views; /* owned array: the views of A, then the views of B */
	size_t runs[DIFF_SIDES];   /* recordings of each side */
	double totals[DIFF_SIDES]; /* mean gticks of the selections */
	double total_error;        /* half width of the 95 % interval of totals[B] / totals[A] - 1; NAN: unknown */
	bool is_exact;             /* all recordings are, or have every event (diff_test.c) */
	bool is_repeatable;        /* ... and have the whole run of a program, which alone decides on the amounts */
	bool has_samples;          /* all recordings are exact, or state how many samples they are */
	double scaled_to;          /* diff_run.scaled_to; the totals are never scaled */
	double spread;             /* diff_run.spread; NAN: it was not used */
	double chance;             /* the part of the marks that is expected to be due to chance; set by diff_mark */
};

/* Returns the number of events that a recording lacks, of *all, although it was to have each of them: the program alone decides on the
 * resource, and the interval is 1. Returns 0 for other resources. */
uint64_t diff_lost_events(const struct view *view, uint64_t *all);

/* Returns the finding that a recording lacks a part of the run of its program, or NULL if there is none, or if its amounts differ between
 * equal runs in any case. */
const struct profile_finding *diff_missing_part(const struct view *view);

/* The usual part of marks that are due to chance. */
#define DIFF_CHANCE 0.05

/* Returns totals[B] / totals[A] - 1, or NAN if A used nothing. */
double diff_total_change(const struct diff_list *list);

/* Compares recordings, `runs` [counts[A] + counts[B]], the recordings of A first; both counts are positive. No entry is marked yet. Returns
 * NULL on error: ERROR_MEMORY or ERROR_LIMIT. */
struct diff_list *analyze_diff(const struct diff_run *runs, const size_t counts[DIFF_SIDES], struct error *error);

/* Marks the significant entries of several lists together: the entries of exact data that differ, and of all other entries as many that at
 * most the part `chance` of them is expected to be marked by chance. Returns 0 or ERROR_MEMORY. */
int diff_mark(struct diff_list *const *lists, size_t count, double chance);

/* Keeps the entries whose path is one of these and removes the others, before the marks. `paths` [runs of both sides] has the same
 * number of paths for each recording; one without steps was not found in that recording's view. Labels of other recordings with the
 * same identities match too. Sets found[i] if an entry has path i, and leaves the others unchanged. */
void diff_select_paths(struct diff_list *list, const struct lookup_what_if *paths, bool *found);

/* Returns their number, and sets `exceeds` of the marked entries whose amount in B is greater than that in A by more than `limit` (0.05: 5 %), and whose fraction
 * reaches `threshold` on a side. */
size_t diff_gate(struct diff_list *list, double limit, double threshold);
/* Keeps the entries with `exceeds` and removes the others. */
void diff_keep_exceeding(struct diff_list *list);
void diff_list_free(struct diff_list *list); /* accepts NULL */

#endif
