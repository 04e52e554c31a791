/*
 * A view: the profile as a tree of labels, for one resource and one selection of its hits. Every analysis works on a
 * view and never reads addresses, files or terminals.
 *
 *   profile nodes (addresses)  --expand inlined frames, trim, label, merge-->  view nodes (labels)
 *
 * The children of a view node have distinct labels. Nodes are in depth-first order: node 0 is the root above every
 * path and has no label, and the subtree of node n is n, n + 1, ... end[n] - 1. Most analyses are therefore one pass
 * without a stack, and "u is in the subtree of n" is n <= u < end[n]. Siblings are in the order of their labels.
 * Nodes without a hit in the selection are left out, unless the options request zeros.
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
	VIEW_CALLSITE, /* the function and the line of its call: "qsort@process_db.c:88" */
	VIEW_LINE,     /* the function and the line that executes in it: "uniquify_db:88" */
	VIEW_MODULE,   /* "libc.so.6" */
	VIEW_GROUP,    /* "io": the group that the source gives the function; "[no group]" without one */
	/* For call_paths.h: the function, the source line that executes in it, and whether it is inlined. The text only
	 * defines an order; `owner` is the text to print. */
	VIEW_FRAME,
};

/* The choice whether the kernel's functions are shown. */
enum view_kernel {
	VIEW_KERNEL_SHOW,
	VIEW_KERNEL_HIDE, /* they are left out, and the code that entered the kernel has their hits */
	VIEW_KERNEL_ONLY, /* only they are shown, and only their hits count */
};

#define VIEW_ANY UINT32_MAX

struct transforms; /* analyze/transform.h */

struct view_options {
	uint32_t resource;   /* index in profile->resources */
	bool every_resource; /* adds up the hits of all resources: for call_paths.h */
	enum view_by by;
	enum view_kernel kernel;
	bool no_inlines;      /* an inlined function counts as the function that contains it */
	bool untrimmed;       /* shows the C library's start code above main and thread starts */
	bool keep_view_nodes; /* fills in view_node: for analyze_pages and call_paths.h */
	bool native_frames;   /* shows the interpreter's own frames above the functions that it interprets */
	bool no_tail_calls;   /* leaves out the functions that tail calls removed from stacks */
	bool no_stitch;       /* paths begin where their thread begins, not with its creator */
	bool zeros;           /* has also the paths on which the selection has hits of other resources only */
	/* [profile->process_count]: the processes whose hits count. NULL: all, and hits without a process too. The view
	 * makes a copy. */
	const bool *processes;
	/* [profile->label_set_count]: the label sets whose hits count. NULL: all. The view makes a copy. */
	const bool *label_sets;
	uint32_t thread; /* index in threads, or VIEW_ANY */
	/* Hits with from_ns <= time - profile->start_ns < to_ns count; to_ns 0: no end. If either is set, hits without a
	 * time are left out. */
	uint64_t from_ns;
	uint64_t to_ns;
	/* They change the paths before all else; NULL: none. The view makes a copy. */
	struct transforms *transforms;
};

struct view_label {
	const char *text; /* as printed; belongs to the view or the profile */
	/* the function's text in a view by function (VIEW_MODULE, VIEW_GROUP: the module, group); equal pointers: one
	 * function */
	const char *owner;
	uint32_t function; /* index in profile->functions of one function with this label, or PROFILE_NONE */
	uint32_t module;   /* index in profile->modules of one module with that code, or PROFILE_NONE */
	uint32_t frame;    /* index in profile->frames of one frame with this label, or PROFILE_NONE */
	/* bytes of the bare function name in `text`; a suffix may follow: "@libfoo.so", "@file.c:88", ":88" */
	uint32_t name_length;
};

/* The locations that end at a node: of a function that was inserted for tail calls, others, or both. */
enum view_tail { VIEW_TAIL = 1, VIEW_RECORDED = 2 };

struct view {
	/* not owned; must outlive the view. With transforms, the profile after them, which `transformed` owns; see transformed_source. */
	const struct profile *profile;
	struct transformed *transformed; /* held; NULL: no transforms */
	struct view_options options;
	const struct profile_resource *resource; /* NULL: every_resource */

	/* Sorted by text (strcmp), with distinct texts, so that comparing two label indexes compares their texts.
	 * Contains the labels of the whole profile, also those without hits in this selection; by call site, only those
	 * of the selection. */
	struct view_label *labels;
	size_t label_count;

	/* The tree, as arrays over node_count nodes. */
	uint32_t *parent; /* [0] is PROFILE_NONE */
	uint32_t *label;  /* index in labels; [0] is PROFILE_NONE */
	uint64_t *hits;   /* exclusive */
	uint64_t *
		weight; /* hits of it and all descendants; without options.zeros, 0 only for the root of an empty selection */
	uint32_t *end; /* one past the last node of the subtree */
	size_t node_count;
	size_t depth; /* nodes on the longest path, without the root */
	/* Children of node n: child[child_start[n]] ... child[child_start[n+1] - 1]. */
	uint32_t *child;
	uint32_t *child_start;

	uint64_t total;   /* H: all hits of the selection */
	uint64_t samples; /* samples in it; 0 if exact */
	/* Number of independent samples that show as much, for errors: fewer than `samples` where samples of CPU time have
	 * unequal hits, and for floating point exceptions (docs/definitions.md); 0 if exact. */
	double independent;

	bool *chosen_processes;  /* owned: options.processes; NULL: all */
	bool *chosen_label_sets; /* owned: options.label_sets; NULL: all */
	struct strings *texts;   /* the labels' texts: owned */
	uint64_t *node_hits;     /* per node of the profile: its hits in the selection */
	/* per node of the profile, and per node: whether the selection has a sample of any resource that ends there;
	 * NULL unless options.zeros */
	bool *node_sampled;
	bool *sampled;
	/* per node of the profile: the view's node that got its hits (PROFILE_NONE: none); NULL unless
	 * keep_view_nodes */
	uint32_t *view_node;
	/* per node: enum view_tail; NULL: no function was inserted for a tail call */
	uint8_t *tails;
	/* per function of the profile: its label (PROFILE_NONE: on no path); NULL unless VIEW_FUNCTION */
	uint32_t *function_label;
};

/* Returns a view, or NULL on error: ERROR_MEMORY, ERROR_LIMIT, ERROR_NOT_FOUND for a resource or thread that the
 * profile does not have, or the errors of transformed_get. `profile` may be that of a view with these transforms. */
struct view *view_new(const struct profile *profile, const struct view_options *options, struct error *error);
void view_free(struct view *view); /* accepts NULL */

/* Returns whether samples end at a node; with options.zeros, also samples of other resources. */
static inline bool view_has_samples(const struct view *view, uint32_t node)
{
	return view->hits[node] > 0 || (view->sampled && view->sampled[node]);
}

/* Returns whether all frames of a node are of functions that a tail call removed from stacks. */
static inline bool view_is_tail(const struct view *view, uint32_t node)
{
	return view->tails && view->tails[node] == VIEW_TAIL;
}

/* A set of a view's labels. As a root of an analysis, it holds the labels of one function (several by call site or
 * line), of the mains of several programs, or a single label. */
struct label_set {
	uint32_t *labels; /* in increasing order */
	size_t count;
	char *name; /* a common name for all of them; analyses do not use it */
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

/* For sets that view_find made. Accepts {0}. */
void label_set_release(struct label_set *set);

/* Finds the labels that a user may mean by `name`. The kinds of match, best first:
 *   1. all labels of the function with that name
 *   2. the whole label
 *   3. the label without its parameter list ("ns::f" for "ns::f(int)")
 *   4. its last component ("f")
 *   5. what a row of a terminal shows in its place ("ns::f<…>", "f<...>#2": analyze/short_names.h)
 * 3 and 4 also match without template arguments, and without all or the last parts of "@file.c:88". Finds only
 * labels of the best kind that has any. If these belong to several functions, keeps only functions that have hits in
 * the view. Returns the number of functions (VIEW_MODULE: modules) that they belong to (0: none; more than 1:
 * ambiguous), or ERROR_MEMORY. If it is positive, the caller releases `found`. */
int64_t view_find(const struct view *view, const char *name, struct label_set *found);

/* Writes the first label of each function that has labels in the set, up to `limit` of them. Returns the number of
 * all such functions, or ERROR_MEMORY. */
int64_t view_functions(const struct view *view, const struct label_set *set, uint32_t *firsts, size_t limit);

/* Returns whether the set has labels and each is the main of its program. A name that matches all of them then means
 * all of them. */
bool view_are_mains(const struct view *view, const struct label_set *set);

#endif
