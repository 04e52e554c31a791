/*
 * A view: the profile as a tree of labels, for one resource and one selection
 * of its hits. Every analysis works on a view and never looks at addresses,
 * files or terminals.
 *
 *   profile nodes (addresses)  --expand inlined frames, trim, label, merge-->  view nodes (labels)
 *
 * Children of a view node have distinct labels. Nodes are in depth-first order:
 * node 0 is the root above every path and has no label, and the subtree of node
 * n is n, n + 1, ... end[n] - 1, so that most analyses are one pass without a
 * stack, and "is u below n" is n <= u < end[n]. Siblings are in the order of
 * their labels. Nodes without a hit in the selection are left out.
 */
#ifndef ANALYZE_VIEW_H
#define ANALYZE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* How a frame is shown. */
enum view_by {
	VIEW_FUNCTION, /* "qsort" */
	VIEW_CALLSITE, /* the function and where it was called: "qsort@process_db.c:88" */
	VIEW_LINE,     /* the function and the line executing in it: "uniquify_db:88" */
	VIEW_MODULE,   /* "libc.so.6" */
	VIEW_GROUP,    /* "io": what the function's source says that it belongs to; "[no group]" */
	/* For call_paths.h: the function, the source line executing in it, and whether it is
	 * inlined. The text is for order alone; `owner` is what to print. */
	VIEW_FRAME,
};

#define VIEW_ANY UINT32_MAX

struct view_options {
	uint32_t resource;   /* index in profile->resources */
	bool every_resource; /* hits of all resources are added up: for call_paths.h */
	enum view_by by;
	bool no_inlines;  /* an inlined function counts as the function it is part of */
	bool untrimmed;   /* show what the C library puts above main and thread starts */
	bool keep_places; /* fill in node_place: for analyze_pages and call_paths.h */
	bool no_stitch;   /* paths begin where their thread does, not with what started it */
	/* [profile->process_count]: those whose hits count; NULL: all, and hits of no
	 * process as well. The view keeps a copy of its own. */
	const bool *processes;
	/* [profile->label_set_count]: those whose hits count; NULL: all. Kept likewise. */
	const bool *label_sets;
	uint32_t thread; /* index in threads, or VIEW_ANY */
	/* Hits with from_ns <= time - profile->start_ns < to_ns; to_ns 0: no end.
	 * Where either is set, hits whose time is not known are left out. */
	uint64_t from_ns;
	uint64_t to_ns;
};

struct view_label {
	const char *text; /* as printed; points into the view or the profile */
	const char *
		owner; /* what the function (VIEW_MODULE, VIEW_GROUP: the module, group) is called in a view by function;
			       * equal pointers: labels of one function */
	uint32_t function;    /* index in profile->functions of one function so labelled, or PROFILE_NONE */
	uint32_t module;      /* index in profile->modules of one module with that code, or PROFILE_NONE */
	uint32_t frame;       /* index in profile->frames of one frame so labelled, or PROFILE_NONE */
	uint32_t name_length; /* bytes of `text` that are the function's bare name; a suffix may follow:
			       * "@libfoo.so", "@file.c:88", ":88" */
};

struct view {
	const struct profile *profile; /* not owned; must outlive the view */
	struct view_options options;
	const struct profile_resource *resource; /* NULL: every_resource */

	/* Sorted by text (strcmp), texts distinct: comparing two label indexes
	 * compares their texts. Labels of the whole profile, also of what has no
	 * hit in this selection; of call sites, only those of the selection. */
	struct view_label *labels;
	size_t label_count;

	/* The tree, as arrays over node_count nodes. */
	uint32_t *parent; /* [0] is PROFILE_NONE */
	uint32_t *label;  /* index in labels; [0] is PROFILE_NONE */
	uint64_t *hits;   /* exclusive */
	uint64_t *weight; /* hits + those of all descendants; > 0 but for an empty selection's root */
	uint32_t *end;    /* one past the last node of the subtree */
	size_t node_count;
	size_t depth; /* nodes on the longest path, without the root */
	/* Children of node n: child[child_start[n]] ... child[child_start[n+1] - 1]. */
	uint32_t *child;
	uint32_t *child_start;

	uint64_t total;   /* H: all hits of the selection */
	uint64_t samples; /* independent samples in it: for the error; 0 if exact */

	bool *chosen_processes;   /* owned: options.processes; NULL: all */
	bool *chosen_label_sets;  /* owned: options.label_sets; NULL: all */
	struct strings *texts;    /* the labels' texts: owned */
	uint64_t *node_hits;      /* per node of the profile: its hits in the selection */
	uint32_t *node_place;     /* ... the view's node that got them (PROFILE_NONE: none); NULL unless keep_places */
	uint32_t *function_label; /* per function of the profile: its label (PROFILE_NONE: on no path);
				   * NULL unless VIEW_FUNCTION */
};

/* NULL: `error` says why (ERROR_MEMORY, ERROR_NOT_FOUND: no such resource,
 * process or thread). */
struct view *view_new(const struct profile *profile, const struct view_options *options, struct error *error);
void view_free(struct view *view); /* NULL is fine */

/* Some of a view's labels. As a root of an analysis: those of one function, which
 * has several by call site or line, of the mains of several programs, or one label
 * alone. */
struct label_set {
	uint32_t *labels; /* rising */
	size_t count;
	char *name; /* what all of them together are called; analyses do not look at it */
};

static inline bool label_set_has(const struct label_set *set, uint32_t label)
{
	size_t low = 0, high = set->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (set->labels[middle] < label)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->count && set->labels[low] == label;
}

/* For sets that view_find made; {0} is fine. */
void label_set_release(struct label_set *set);

/* Finds the labels that a user may mean by `name`, best kind of match first:
 *   1. all labels of the function so called; 2. the whole label; 3. the label
 *   without its parameter list ("ns::f" for "ns::f(int)"); 4. its last component
 *   ("f"); with templates' arguments dropped as well in 3 and 4, and all or the
 *   last of "@file.c:88" left off. Only labels of the best kind that has any, and
 *   where these are of several functions, only of those that have hits in the view.
 * Returns how many functions (VIEW_MODULE: modules) they belong to (0: none; 1:
 * it; more: ambiguous), or ERROR_MEMORY; if > 0, `found` is the caller's. */
int64_t view_find(const struct view *view, const char *name, struct label_set *found);

/* The first label of each function that has labels in the set, up to `limit` of
 * them. Returns how many functions that are in all, or ERROR_MEMORY. */
int64_t view_functions(const struct view *view, const struct label_set *set, uint32_t *firsts, size_t limit);

/* Whether every label of the set (one at least) is the main of its program: then a
 * name that fits all of them means all of them. */
bool view_are_mains(const struct view *view, const struct label_set *set);

/* Labels of up to `limit` functions that resemble `name` (edit distance, common
 * substring), nearest first, one of each, for "did you mean". Returns how many
 * it wrote. */
size_t view_near(const struct view *view, const char *name, uint32_t *found, size_t limit);

#endif
