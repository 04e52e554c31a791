/*
 * The part of the page that computes: it holds the profiles and answers requests, with the same functions and
 * the same JSON as `cpprof report --format json`. It prints nothing and has no code for a browser; exports.c makes it callable from one.
 *
 * Life cycle: {0}, engine_load for each profile, questions, engine_release.
 */
#ifndef UI_PAGE_ENGINE_H
#define UI_PAGE_ENGINE_H

#include "analyze/analyses.h"
#include "analyze/flame.h"
#include "analyze/settings.h"
#include "analyze/short_names.h"
#include "analyze/timeline.h"
#include "analyze/tree_pair.h"
#include "analyze/view_cache.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"
#include "ui/page/lanes.h"
#include "ui/page/stored_code.h"

/* --- requests (request.c) --- */

/* A request of the page, as text: lines "KEY=VALUE", in any order. The keys are named like the command line's options, so that
 * both mean the same.
 *
 *   side        a (default) or b: the profile of A or B; with several recordings of a side, a2 is the second one of A
 *   report      the name of a report (reports/report.h), "info", or "diff" for the report of `of`
 *   has         on: is answered by {} if the profile has what the report needs, and refused otherwise
 *   of          for a diff: the report whose lists it compares
 *   shape       for a flame graph: stacks, callers, down, up, or changes: the stacks of both sides, as wide as the
 *               larger (analyze/tree_pair.h); names: short names only
 *   search      keeps only the functions of a list whose names contain it, without regard to the case of ASCII letters
 *   file        for the report source, in place of a root: the lines of this file, of all functions
 *   other       for the shape stacks: a second resource, which colours the boxes
 *   root        the function of a report, of down and of up
 *   key         of a timeline, and of the report by-label: the label whose values are its rows
 *   resource, by, thread, process (may be repeated), label (may be repeated), from, to, threshold, limit, spread,
 *   zeros (on or off), group
 *   term        a term of a what-if (may be repeated)
 *   transform   KIND=FUNCTION (may be repeated): changes the paths first (analyze/transform.h)
 *   kernel                                 show, hide or only
 *   untrimmed, native_frames, no_inlines, no_tail_calls, no_stitch   on or off */

enum { PAGE_TERMS_MAX = 32 };

/* A request that was read. Its texts point into the text that was read. */
struct page_request {
	char *text; /* owned */
	const char *report, *of, *shape, *other, *root, *group, *key, *search, *file;
	const char *terms[PAGE_TERMS_MAX];
	size_t term_count;
	const struct profile *profile; /* of the side */
	bool has;
	struct settings settings;
};

struct engine;

/* Reads a request, about this profile of the engine: NULL: about the profile of its own key. Returns 0 or a negative error with
 * `error` set: ERROR_USAGE for an unknown key or value, the errors of analyze/lookup.h, ERROR_MEMORY. The caller releases a request
 * that was read. */
int page_request_read(struct page_request *request, const struct engine *engine, const struct profile *profile,
		      const char *text, struct error *error);
void page_request_release(struct page_request *request);

/* --- the engine (engine.c, engine_lanes.c) --- */

/* The lanes of a picture. */
struct lane_set {
	struct lanes *lanes;       /* owned; NULL: there are none */
	struct short_names *names; /* owned; of the names of the lanes; NULL: not asked for yet */
};

enum engine_lanes {
	ENGINE_TRACE,
	ENGINE_SAMPLED,
	ENGINE_LANE_SETS
}; /* the events of a trace; the samples of a thread */

struct engine {
	struct profile **profiles; /* owned; the recordings of A, then the recordings of B */
	size_t counts[DIFF_SIDES]; /* of B 0: there is no comparison */
	struct stored_code *code
		[DIFF_SIDES]; /* owned; of the first recording of each side; NULL: the page has no machine code of it */
	struct view_cache views;
	struct lane_set lanes[ENGINE_LANE_SETS];
};

/* Puts lanes, or NULL, in place of those of a set, which it frees. */
void lane_set_take(struct lane_set *set, struct lanes *lanes);

/* Starts as {0}. Reads the next recording of a side from the bytes that page_write embeds (ui/page/compact.h): a file whose payloads are
 * not compressed. Returns 0 or a negative error, with
 * `error` set, like reader_load_bytes. */
int engine_load(struct engine *engine, enum diff_sides side, const void *bytes, size_t size, struct error *error);
/* The same for what stored_code_write wrote of the first recording of a side, which was loaded. */
int engine_load_code(struct engine *engine, enum diff_sides side, const void *bytes, size_t size, struct error *error);
/* The same for what lanes_write wrote. */
int engine_load_events(struct engine *engine, const void *bytes, size_t size, struct error *error);
void engine_release(struct engine *engine); /* accepts {0} */

/* Returns the answer to the request `text`, a JSON document that the caller frees, or NULL with `error` set. */
char *engine_answer(struct engine *engine, const char *text, struct error *error);

/* A picture of a tree, with the view that its labels are of. */
struct picture {
	struct view_cache *views;  /* the engine's; holds the next two */
	const struct view *view;   /* whose labels the boxes have: `own`, or the view of the pair */
	const struct view *own;    /* NULL: the picture is of all recordings */
	const struct view *second; /* of the other resource; NULL: there is none */
	struct view **recordings;  /* owned: a view of each recording; NULL: the picture is of one */
	size_t recording_count;
	struct tree_pair *pair;    /* owned; the boxes of several views; NULL: there is one view */
	struct view *subtree;      /* owned; the boxes of shape "down"; NULL for the others */
	struct flame *flame;       /* owned; NULL: the request has the shape "names" */
	bool is_of_view;           /* the boxes are the nodes of `view` */
	struct short_names *names; /* owned: of the view's labels; NULL: not asked for yet */
	uint32_t *by_text; /* owned; [view->label_count]: labels in the order of their texts; NULL: not asked for yet */
	bool *marks;       /* owned; [view->label_count]: labels that the search found; NULL: no search */
	uint32_t *marked;  /* owned; [nodes + 1]: marked nodes before each; NULL: no search, or boxes of callers */
};

/* Makes the flame graph of the request `text`. Returns 0 or a negative error, with `error` set; the caller releases a picture that was
 * made, before the engine. */
int picture_make(struct picture *picture, struct engine *engine, const char *text, struct error *error);
void picture_release(struct picture *picture); /* accepts {0} */

/* Appends the text of a label of the picture's view in at most `columns`, by the rule of docs/languages.md. */
void picture_short_label(struct picture *picture, size_t label, size_t columns, struct buffer *to);
/* The same for the label with this text; a text that is no label is shortened by itself. */
void picture_short_name(struct picture *picture, const char *name, size_t columns, struct buffer *to);
/* The same for a name of lanes. */
void lane_set_short_name(struct lane_set *set, size_t name, size_t columns, struct buffer *to);
/* Returns the width of all boxes of each module that `info` lists, whose colour they have, in hits, and behind them of code of no module: the
 * first [info_module_count + 1]; then as many own hits of the same. The caller frees them. Returns NULL: out of memory. */
double *picture_module_areas(const struct picture *picture);
/* Returns the name of a function with code of this line, or NULL if there is none. The picture is by line. */
const char *picture_function_at(const struct picture *picture, const char *file, uint32_t line);

/* Returns the folded path of a box (flame.h), as names with ';' between them. The caller frees it. Returns NULL with `error` set. */
char *picture_folded_path(const struct picture *picture, uint32_t node, struct error *error);

/* Returns the path of a box of the shape stacks as the transform "path" takes it, not folded. The caller frees it. Returns NULL with `error` set. */
char *picture_whole_path(const struct picture *picture, uint32_t node, struct error *error);

/* Marks the labels whose texts contain `text`, without regard to the case of ASCII letters; "" marks none. Sets *hits to the hits of
 * the samples with such a label. Returns the number of marked labels, or ERROR_MEMORY. */
int64_t picture_search(struct picture *picture, const char *text, uint64_t *hits);

/* Returns whether the label of a box, or of one below it, is marked. The boxes of callers are not known to be. */
bool picture_holds(const struct picture *picture, uint32_t node);

/* Returns a timeline by the key of the request, or by threads, that the caller frees, and sets *side to its profile; or returns NULL with
 * `error` set. */
struct timeline *engine_timeline(const struct engine *engine, const char *text, size_t periods,
				 const struct profile **side, struct error *error);

/* Returns whether a hit of the request's resource has a time and, without a key, a thread, whatever else is selected; or a negative error. */
int engine_has_times(const struct engine *engine, const char *text, struct error *error);

/* Returns the path of a node as function names with ';' between them: of a mark (timeline.h) the path that created its threads; "" for
 * PROFILE_ROOT. The caller frees it. NULL: out of memory, with `error` set. */
char *engine_path(const struct profile *profile, uint32_t node, struct error *error);

/* Makes the lane ENGINE_SAMPLED of a thread of the request's profile, without the frames of the thread's creator. `period_ns` is the
 * step of the times in it (ui/page/compact.h). Sets *detail_ns like lanes_sampled. Returns 0 or a negative error, with `error` set. */
int engine_sample_lane(struct engine *engine, const char *text, uint32_t thread, uint64_t period_ns,
		       uint64_t *detail_ns, struct error *error);

#endif
