/*
 * The steps of view_new, in their order. Internal to analyze/.
 *
 *   selection_keep the chosen processes and label sets, as the view's own
 *   selection_sum  hits of the selection, per profile node
 *   names_make     a text for each function and module, told apart where names clash
 *   labels_make    each location's frames as labels, outermost first
 *   stitch_make    the nodes of threads below those that started them
 *   tree_build     the merged tree of labels
 *
 * While labels are made, a label is the id of its text in the view's `texts`;
 * labels_finish then numbers them in the order of their texts.
 */
#ifndef ANALYZE_BUILD_H
#define ANALYZE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/buffer.h"
#include "base/hash_map.h"
#include "base/strings.h"

#define LABEL_END UINT32_MAX /* closes a location's labels */

/* Text ids of what is shown for a function or module; `name_length` of its
 * bytes are the name itself, a suffix may follow. */
struct shown_name {
	uint32_t text;
	uint32_t name_length;
};

/* A label that has no number yet. */
struct draft {
	struct view_label label; /* `text` NULL: the text is no label */
	bool used;               /* of call sites, only those that occur become labels */
};

/* How a location looks: text ids of its frames. */
struct location_labels {
	uint32_t first; /* where its run in `frame_labels` starts */
	uint32_t count; /* without LABEL_END */
	uint32_t label; /* the run's first */
	uint32_t lead;  /* labels to drop while nothing else stands above them: start code */
	uint32_t top;   /* of the first frame after `lead`, or of the innermost if none is left: its
			 * label if it is the outermost of a path */
};

/* What stitch_make cuts out of a location. */
struct location_part {
	uint32_t origin; /* the profile's location */
	bool opens;      /* its first frame is the outermost of a thread */
};

/* Everything that is only alive during view_new. */
struct view_build {
	const struct profile *profile;
	struct view *view;
	struct buffer scratch; /* for composing texts */

	struct shown_name *functions; /* per function */
	struct shown_name *modules;   /* per module: its basename, or its path where basenames clash */

	/* Per text id: the label to be, then its number. */
	struct draft *drafts;
	size_t draft_capacity;
	uint32_t *label_of_text;

	/* The profile's, and behind them parts of them. */
	struct location_labels *locations;
	size_t location_count;
	struct location_part *parts; /* [location_count - profile->location_count] */
	size_t part_count;
	uint32_t *frame_labels; /* text ids: the locations' runs, outermost first, each closed by LABEL_END */
	size_t frame_label_count;

	/* What the tree is built of: the profile's and the view's, or own ones. */
	const struct profile_node *nodes;
	const uint64_t *node_hits;
	size_t node_count;
	struct profile_node *own_nodes;
	uint64_t *own_hits;
	uint32_t *shown; /* per node of the profile: which of `nodes` got its hits; NULL: itself */

	/* VIEW_CALLSITE only. */
	uint32_t *frame_site;      /* per frame: a number for its file and line, or PROFILE_NONE */
	struct hash_map site_ids;  /* (file, line) -> that number */
	struct hash_map callsites; /* (function's text, site) -> text id */
};

/* Each returns 0 or a negative error. The first says in `error` what the options
 * ask for that is not there; else the only cause is ERROR_MEMORY or ERROR_LIMIT. */
int selection_keep(struct view *view, struct error *error);
int selection_sum(struct view *view, struct error *error);
int names_make(struct view_build *build);
int labels_make(struct view_build *build);
int stitch_make(struct view_build *build);
int tree_build(struct view_build *build);

static inline bool location_opens(const struct view_build *build, uint32_t location)
{
	size_t own = build->profile->location_count;
	return location >= own && build->parts[location - own].opens;
}

static inline uint32_t location_origin(const struct view_build *build, uint32_t location)
{
	size_t own = build->profile->location_count;
	return location >= own ? build->parts[location - own].origin : location;
}

/* The threads that a view chooses: *chosen is the caller's, NULL if all are. 0 or ERROR_MEMORY. */
int selection_threads(const struct view *view, bool **chosen);
/* Whether the view chooses what happened then, in that thread, with these labels. */
bool selection_has(const struct view *view, const bool *chosen, uint32_t thread, uint64_t time_ns, uint32_t label_set);

/* For tree_build, of call sites: the label (text id) of the outermost frame of
 * `location` when called from `caller`, or a negative error. */
int64_t labels_of_call(struct view_build *build, uint32_t location, uint32_t caller);
/* Fills view->labels and label_of_text. */
int labels_finish(struct view_build *build);
/* 0, or ERROR_NOT_FOUND: the set has a label that is none of the view's. */
int label_set_check(const struct view *view, const struct label_set *set, struct error *error);

#endif
