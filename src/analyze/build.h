/*
 * The steps of view_recorded_new, in their order. Internal to analyze/.
 *
 *   selection_copy copies the chosen processes and label sets into the view
 *   selection_sum  adds up the hits of the selection, per profile node
 *   names_make     makes a text for each function and module, with a suffix where names clash
 *   frame_labels_make    turns each location's frames into labels, outermost first
 *   stitch_make    moves the nodes of threads below those that started them
 *   tree_build     builds the merged tree of labels
 *
 * While labels are made, a label is the id of its text in the view's `texts`. frame_labels_finish then numbers the labels
 * in the order of their texts.
 */
#ifndef ANALYZE_BUILD_H
#define ANALYZE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/buffer.h"
#include "base/hash_map.h"
#include "base/strings.h"

#define LABEL_END UINT32_MAX /* ends a location's labels */

/* The displayed name of a function or module. Its first `name_length` bytes are the bare name; a suffix may follow. */
struct shown_name {
	uint32_t text;
	uint32_t name_length;
};

/* A label that has no number yet. */
struct draft {
	struct view_label label; /* `text` NULL: no label has this text */
	bool used;               /* by call site, only drafts that occur on a path become labels */
};

/* The labels of a location's frames: a run of text ids. */
struct location_labels {
	uint32_t first; /* index in `frame_labels` at which its run starts */
	uint32_t count; /* labels in the run, without LABEL_END */
	uint32_t label; /* the first label of the run */
	uint32_t lead;  /* number of labels of start code, which are dropped at the outer end of a path */
	/* label if the location is the outermost of a path: the label of the first frame after `lead`, or of the
	 * innermost if none is left */
	uint32_t top;
};

/* A location that stitch_make made from some frames of another one. */
struct location_part {
	uint32_t origin; /* the profile's location */
	bool opens;      /* its first frame is the outermost of a thread */
};

/* The intermediate data of view_recorded_new, freed when it returns. */
struct view_build {
	const struct profile *profile;
	struct view *view;
	struct buffer scratch; /* for composing texts */

	struct shown_name *functions; /* per function */
	struct shown_name *modules;   /* per module: its basename, or its path where basenames clash */

	/* Per text id: the draft of its label, and then the label's number. */
	struct draft *drafts;
	size_t draft_capacity;
	uint32_t *label_of_text;

	/* The profile's locations, followed by parts of them. */
	struct location_labels *locations;
	size_t location_count;
	struct location_part *parts; /* [location_count - profile->location_count] */
	size_t part_count;
	/* text ids: the runs of the locations, outermost first, each ended by LABEL_END */
	uint32_t *frame_labels;
	size_t frame_label_count, frame_label_capacity;

	/* The input of tree_build: the arrays of the profile and the view, or arrays of its own. */
	const struct profile_node *nodes;
	const uint64_t *node_hits;
	const bool *node_sampled; /* NULL: no zeros */
	size_t node_count;
	struct profile_node *own_nodes;
	uint64_t *own_hits;
	bool *own_sampled;
	/* per node of the profile: index of the node in `nodes` that got its hits; NULL: the same index */
	uint32_t *shown;

	/* VIEW_CALLSITE only. */
	uint32_t *frame_line;      /* per frame: the number of its (file, line), or PROFILE_NONE */
	struct hash_map line_ids;  /* (file, line) -> that number */
	struct hash_map callsites; /* (function's text, line id) -> text id */
};

/* Returns an array by module, which the caller frees: whether the view leaves out its frames. NULL: no memory. */
bool *selection_hidden_modules(const struct view *view);

/* Each returns 0 or a negative error. selection_copy and selection_sum also set `error`, for instance if the options
 * name a resource or thread that the profile does not have. The others fail with ERROR_MEMORY or ERROR_LIMIT only. */
int selection_copy(struct view *view, struct error *error);
int selection_sum(struct view *view, struct error *error);
int names_make(struct view_build *build);
int frame_labels_make(struct view_build *build);
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

/* The hits that a view selects: selection_begin, selection_part for each row, selection_end in any case. */
struct selection {
	const struct view *view; /* only its profile and its options are used */
	bool *threads;           /* by thread; NULL: all, and hits without a thread too */
	bool *left_out;          /* by module: hits at its code do not count; NULL: all count */
	/* by resource: the ns from hit to hit of a sample; 0: all hits have its time; NULL: there is no range */
	uint64_t *hit_ns;
};

/* Returns 0 or ERROR_MEMORY. */
int selection_begin(struct selection *selection, const struct view *view);
void selection_end(struct selection *selection);

/* Returns whether the view selects a hit of this thread, time, label set and node. */
bool selection_has(const struct selection *selection, uint32_t thread, uint64_t time_ns, uint32_t label_set,
		   uint32_t node);

/* Returns whether the view selects hits of a row of the profile, and copies the row to *taken, with the number of these hits and the time of
 * the last one. A sample of time with several hits, such as a wait, has them one interval apart, the last at its own time and none
 * before the start of the recording:
 *
 *        from           to
 *     |   |  |  |  |  |  |  |  |       a sample of 9 hits
 *         [  1  2  3  4  5             5 of them are taken */
bool selection_part(const struct selection *selection, size_t hit, struct profile_hit *taken);

/* For tree_build of a view by call site. Returns the label (text id) of the outermost frame of `location` when the
 * location `caller` calls it, or a negative error. */
int64_t frame_labels_of_call(struct view_build *build, uint32_t location, uint32_t caller);
/* Fills view->labels and label_of_text. */
int frame_labels_finish(struct view_build *build);
/* Returns 0, or ERROR_NOT_FOUND if the set has a label that the view does not have. */
int label_set_check(const struct view *view, const struct label_set *set, struct error *error);

#endif
