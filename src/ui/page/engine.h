/*
 * The part of the page that computes: it holds the profiles and answers requests (ui/page/request.h), with the same functions and
 * the same JSON as `cpprof report --format json`. It prints nothing and knows no browser; exports.c makes it callable from one.
 *
 * Life cycle: engine_init, engine_load for one profile or two, questions, engine_release.
 */
#ifndef UI_PAGE_ENGINE_H
#define UI_PAGE_ENGINE_H

#include "analyze/flame.h"
#include "analyze/short_names.h"
#include "analyze/timeline.h"
#include "analyze/tree_pair.h"
#include "analyze/view_cache.h"
#include "base/buffer.h"
#include "profile/profile.h"
#include "ui/page/lanes.h"
#include "ui/page/request.h"

enum { ENGINE_SIDES = 2 };

struct engine {
	struct profile *profiles[ENGINE_SIDES]; /* owned; [1] NULL: there is one profile */
	struct view_cache views;
	struct lanes *lanes;            /* owned; the events of a trace; NULL: there are none */
	struct short_names *lane_names; /* owned; of the names of the lanes; NULL: not asked for yet */
};

/* Starts as {0}. Reads the profile from the bytes that page_write embeds (ui/page/compact.h): a file whose payloads are not
 * compressed. Returns 0 or a negative error, with
 * `error` set, like reader_load_bytes. */
int engine_load(struct engine *engine, int side, const void *bytes, size_t size, struct error *error);
/* The same for what lanes_write wrote. */
int engine_load_events(struct engine *engine, const void *bytes, size_t size, struct error *error);
void engine_release(struct engine *engine); /* accepts {0} */

/* Returns the answer to the request `text`, a JSON document that the caller frees, or NULL with `error` set. */
char *engine_ask(struct engine *engine, const char *text, struct error *error);

/* A picture of a tree, with the view that its labels are of. */
struct picture {
	struct view_cache *views; /* the engine's; holds the next two */
	const struct view *view;  /* whose labels the boxes have: the next one, or that of the pair */
	const struct view *own;
	const struct view *second; /* of the other resource or profile; NULL: there is none */
	struct tree_pair *pair;    /* owned; the boxes of both; NULL: there is no second view */
	struct view *subtree;      /* owned; the boxes of shape "down"; NULL for the others */
	struct flame *flame;       /* owned; NULL: the request has the shape "names" */
	struct short_names *names; /* owned: of the view's labels; NULL: not asked for yet */
	uint32_t *by_text; /* owned; [view->label_count]: labels in the order of their texts; NULL: not asked for yet */
	bool *marks;       /* owned; [view->label_count]: labels that the search found; NULL: no search */
};

/* Makes the flame graph of the request `text`. Returns 0 or a negative error, with `error` set; the caller releases a picture that was
 * made, before the engine. */
int picture_make(struct picture *picture, struct engine *engine, const char *text, struct error *error);
void picture_release(struct picture *picture); /* accepts {0} */

/* Appends the text of a label of the picture's view in at most `columns`, by the rule of docs/names.md. */
void picture_short_label(struct picture *picture, size_t label, size_t columns, struct buffer *to);
/* The same for the label with this text; a text that is no label is shortened by itself. */
void picture_short_name(struct picture *picture, const char *name, size_t columns, struct buffer *to);
/* The same for a name of the engine's lanes. */
void engine_short_lane_name(struct engine *engine, size_t name, size_t columns, struct buffer *to);
/* Returns the name of a function with code of this line, or NULL if there is none. The picture is by line. */
const char *picture_function_at(const struct picture *picture, const char *file, uint32_t line);

/* Returns the folded path of a box (flame.h), as names with ';' between them. The caller frees it. Returns NULL with `error` set. */
char *picture_folded_path(const struct picture *picture, uint32_t node, struct error *error);

/* Marks the labels whose texts contain `text`, without regard to the case of ASCII letters; "" marks none. Sets *hits to the hits of
 * the samples with such a label. Returns the number of marked labels, or ERROR_MEMORY. */
int64_t picture_search(struct picture *picture, const char *text, uint64_t *hits);

/* Returns a timeline that the caller frees, and sets *side to its profile; or returns NULL with `error` set. */
struct timeline *engine_timeline(const struct engine *engine, const char *text, size_t periods,
				 const struct profile **side, struct error *error);

/* Returns whether a hit of the request's resource has a time and a thread, whatever else is selected; or a negative error. */
int engine_has_times(const struct engine *engine, const char *text, struct error *error);

/* Returns the path that created the threads of a mark (timeline.h), as function names with ';' between them; "" for PROFILE_ROOT. The
 * caller frees it. NULL: out of memory, with `error` set. */
char *engine_creator(const struct profile *profile, uint32_t mark, struct error *error);

#endif
