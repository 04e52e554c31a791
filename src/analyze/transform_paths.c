/*
 * One transform. It reads the paths from a view by function, in which every node of the profile has a view node:
 *
 *   profile   start - main - [parse | read inlined] - qsort          focus=read
 *   view              main -  parse - read          - qsort
 *
 * For each view node, marks state whether the function is on the path (`top`: its outermost node). Each node of the profile, from the
 * outermost on, then gets an image: the node at which its hits are after the transform. An image is the node itself if the path
 * stays, and otherwise an appended node below the image of its parent:
 *
 *   [read] - qsort          two appended nodes; the first has a location with the inner one of the two frames
 *
 * A node stays in the table, without hits, if its image is another one. So what reads the profile's nodes for other reasons finds them all.
 */
#include "analyze/transform_paths.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "analyze/view_recorded.h"
#include "base/array.h"
#include "base/hash_map.h"
#include "base/huge_pages.h"
#include "base/quote.h"
#include "profile/thread_mark.h"

/* --- the copy --- */

static void *copy_of(const void *items, size_t count, size_t item_bytes)
{
	void *copy = malloc((count + 1) * item_bytes);
	if (copy)
		huge_pages_advise(copy, count * item_bytes);
	if (copy && count > 0)
		memcpy(copy, items, count * item_bytes);
	return copy;
}

int transform_paths_begin(struct profile *copy, const struct profile *profile, struct error *error)
{
	const uint64_t end_ns = profile->start_ns + profile_duration_ns(profile);
	*copy = *profile;
	copy->nodes = copy_of(profile->nodes, profile->node_count, sizeof(*copy->nodes));
	copy->locations = copy_of(profile->locations, profile->location_count, sizeof(*copy->locations));
	copy->hits = copy_of(profile->hits, profile->hit_count, sizeof(*copy->hits));
	copy->hit_labels = copy_of(profile->hit_labels, profile->hit_label_count, sizeof(*copy->hit_labels));
	copy->touches = copy_of(profile->touches, profile->touch_count, sizeof(*copy->touches));
	copy->node_capacity = profile->node_count;
	copy->location_capacity = profile->location_count;
	copy->end_ns = end_ns > copy->end_ns ? end_ns : copy->end_ns; /* the last hit may be left out */
	return copy->nodes && copy->locations && copy->hits && copy->hit_labels && copy->touches
		       ? 0
		       : error_set(error, ERROR_MEMORY, "out of memory for transformed paths");
}

void transform_paths_release(struct profile *copy)
{
	free(copy->nodes);
	free(copy->locations);
	free(copy->hits);
	free(copy->hit_labels);
	free(copy->touches);
	*copy = (struct profile){ 0 };
}

/* --- one transform --- */

struct step {
	struct profile *profile;
	const struct transform *transform;
	const struct view *view;    /* by function, of the profile before the step */
	struct label_set labels;    /* of the function */
	struct lookup_what_if path; /* of TRANSFORM_PATH */
	bool no_inlines;            /* a location is one frame: its outermost */

	/* Per view node. */
	uint32_t *depth;
	uint32_t *
		top; /* the outermost node of the function or the last node of the path, at it or above; PROFILE_NONE: none */
	uint32_t *inner; /* the innermost node of the function; TRANSFORM_COLLAPSE only */

	/* Per node of the profile before the step. */
	size_t node_count;
	uint32_t *image; /* PROFILE_NONE: its hits are left out */
	uint32_t *outer; /* the node at which the path ends in the outermost function; TRANSFORM_COLLAPSE only */

	struct hash_map parts; /* (location, frames left out, frames) -> location */
};

static bool has_label(const struct step *step, uint32_t view_node)
{
	return view_node != PROFILE_ROOT && label_set_has(&step->labels, step->view->label[view_node]);
}

/* Returns whether the path of a view node consists of the first steps of the path. */
static bool is_on_path(const struct step *step, uint32_t view_node, const bool *parents)
{
	const struct what_if *path = &step->path.paths[0];
	uint32_t depth = step->depth[view_node], parent = step->view->parent[view_node];
	return parents[parent] && depth <= path->length &&
	       label_set_has(&path->steps[depth - 1], step->view->label[view_node]);
}

/* Marks the view nodes of TRANSFORM_PATH. Returns 0, ERROR_MEMORY, or ERROR_NOT_FOUND if there is none. */
static int mark_path(struct step *step, struct error *error)
{
	const struct view *view = step->view;
	bool found = false, *on_path = calloc(view->node_count, sizeof(*on_path));
	if (!on_path)
		return error_set(error, ERROR_MEMORY, "out of memory for transformed paths");
	on_path[0] = true;
	for (uint32_t i = 1; i < view->node_count; i++) {
		on_path[i] = is_on_path(step, i, on_path);
		bool is_end = on_path[i] && step->depth[i] == step->path.paths[0].length;
		step->top[i] = is_end ? i : step->top[view->parent[i]];
		found = found || is_end;
	}
	free(on_path);
	if (found)
		return 0;
	const char *first = view->node_count > 1 ? view->labels[view->label[1]].owner : "main";
	return error_set(error, ERROR_NOT_FOUND, "no path %s (a path begins with an outermost function, as '%s;...')",
			 QUOTE(step->transform->name), first);
}

static void mark_function(struct step *step)
{
	const struct view *view = step->view;
	for (uint32_t i = 1; i < view->node_count; i++) {
		uint32_t parent = view->parent[i];
		bool is_it = has_label(step, i);
		step->top[i] = step->top[parent] == PROFILE_NONE && is_it ? i : step->top[parent];
		if (step->inner)
			step->inner[i] = is_it ? i : step->inner[parent];
	}
}

static int mark(struct step *step, struct error *error)
{
	const struct view *view = step->view;
	bool collapses = step->transform->kind == TRANSFORM_COLLAPSE;
	step->depth = calloc(view->node_count, sizeof(*step->depth));
	step->top = malloc(view->node_count * sizeof(*step->top));
	step->inner = collapses ? malloc(view->node_count * sizeof(*step->inner)) : NULL;
	step->image = malloc(step->node_count * sizeof(*step->image));
	step->outer = collapses ? malloc(step->node_count * sizeof(*step->outer)) : NULL;
	if (!step->depth || !step->top || !step->image || (collapses && (!step->inner || !step->outer)))
		return error_set(error, ERROR_MEMORY, "out of memory for transformed paths");
	step->top[0] = PROFILE_NONE;
	if (collapses)
		step->inner[0] = PROFILE_NONE;
	for (uint32_t i = 1; i < view->node_count; i++)
		step->depth[i] = step->depth[view->parent[i]] + 1;
	if (step->transform->kind == TRANSFORM_PATH)
		return mark_path(step, error);
	mark_function(step);
	return 0;
}

/* --- nodes --- */

/* The view node in which the shown path of a node ends; PROFILE_ROOT: none of its frames is shown. */
static uint32_t view_node_of(const struct step *step, uint32_t node)
{
	uint32_t found = step->view->view_node[node];
	return found == PROFILE_NONE ? PROFILE_ROOT : found;
}

/* The outermost function on the shown path of a node. */
static uint32_t top_of(const struct step *step, uint32_t node)
{
	return step->top[view_node_of(step, node)];
}

static const struct profile_node *node_at(const struct step *step, uint32_t node)
{
	return &step->profile->nodes[node];
}

static uint32_t frames_at(const struct step *step, uint32_t node)
{
	uint32_t count = step->profile->locations[node_at(step, node)->location].frame_count;
	return count == 0 || step->no_inlines ? 1 : count;
}

static int64_t add_node(struct step *step, uint32_t parent, int64_t location)
{
	struct profile *profile = step->profile;
	if (location < 0)
		return location;
	if (profile->node_count >= PROFILE_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(profile->nodes, profile->node_capacity, profile->node_count + 1) < 0)
		return ERROR_MEMORY;
	profile->nodes[profile->node_count] = (struct profile_node){ .parent = parent, .location = (uint32_t)location };
	return (int64_t)profile->node_count++;
}

/* Returns a location with `count` frames of the location of a node, without the `skipped` innermost ones. */
static int64_t part_of(struct step *step, uint32_t node, uint32_t skipped, uint32_t count)
{
	struct profile *profile = step->profile;
	uint32_t location = node_at(step, node)->location;
	if (count >= frames_at(step, node))
		return location;
	if (skipped > UINT16_MAX || count > UINT16_MAX || profile->location_count >= PROFILE_NONE)
		return ERROR_LIMIT;
	uint64_t key = (uint64_t)location << 32 | skipped << 16 | count;
	uint32_t known = hash_map_get(&step->parts, key);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(profile->locations, profile->location_capacity, profile->location_count + 1) < 0 ||
	    hash_map_put(&step->parts, key, (uint32_t)profile->location_count) < 0)
		return ERROR_MEMORY;
	struct profile_location part = profile->locations[location];
	part.first_frame += skipped;
	part.frame_count = count;
	part.by_frames = true;
	profile->locations[profile->location_count] = part;
	return (int64_t)profile->location_count++;
}

/* Returns the image of a node whose frames all stay: below the image of its parent. */
static int64_t below_image(struct step *step, uint32_t node)
{
	uint32_t parent = node_at(step, node)->parent, image = step->image[parent];
	if (image == parent)
		return node;
	if (image == PROFILE_ROOT && thread_mark_is(step->profile, node))
		return PROFILE_ROOT; /* the creator is left out */
	return add_node(step, image, node_at(step, node)->location);
}

/* The number of a node's frames that are inside of the frame of `view_node`, which is on its path, and itself. */
static uint32_t frames_from(const struct step *step, uint32_t node, uint32_t view_node)
{
	return step->depth[view_node_of(step, node)] - step->depth[view_node] + 1;
}

/* --- the kinds --- */

/* Paths begin anew at `top`. */
static int64_t cut(struct step *step, uint32_t node)
{
	uint32_t top = top_of(step, node), parent = node_at(step, node)->parent;
	if (top == PROFILE_NONE)
		return step->transform->kind == TRANSFORM_ABOVE ? node : PROFILE_NONE;
	if (top_of(step, parent) == top)
		return below_image(step, node);
	uint32_t count = frames_from(step, node, top);
	if (parent == PROFILE_ROOT && count >= frames_at(step, node))
		return node;
	return add_node(step, PROFILE_ROOT, part_of(step, node, 0, count));
}

static int64_t drop(struct step *step, uint32_t node)
{
	return top_of(step, node) == PROFILE_NONE ? node : PROFILE_NONE;
}

/* Returns whether a frame of a node is merged; frame 0 is the innermost one. */
static bool is_merged(const struct step *step, uint32_t node, uint32_t frame)
{
	const struct profile *profile = step->profile;
	const struct profile_location *location = &profile->locations[node_at(step, node)->location];
	if (location->frame_count == 0)
		return has_label(step, view_node_of(step, node));
	uint32_t at = location->first_frame + (step->no_inlines ? location->frame_count - 1 : frame);
	uint32_t label = step->view->function_label[profile->frames[at].function];
	return label != PROFILE_NONE && label_set_has(&step->labels, label);
}

/* Returns where the hits of a node are whose frames are all merged: at its caller; at the root if no caller is shown. */
static uint32_t caller_image(const struct step *step, uint32_t node)
{
	uint32_t at = view_node_of(step, node);
	for (uint32_t i = frames_at(step, node); i > 0 && has_label(step, at); i--)
		at = step->view->parent[at];
	return at == PROFILE_ROOT ? PROFILE_ROOT : step->image[node_at(step, node)->parent];
}

static int64_t merge(struct step *step, uint32_t node)
{
	uint32_t count = frames_at(step, node), kept = 0;
	bool is_mark = thread_mark_is(step->profile, node);
	for (uint32_t i = 0; i < count && !is_mark; i++)
		kept += !is_merged(step, node, i);
	if (kept == count || is_mark)
		return below_image(step, node);
	if (kept == 0)
		return caller_image(step, node);
	int64_t image = step->image[node_at(step, node)->parent];
	for (uint32_t end = count, first; end > 0 && image >= 0; end = first) {
		first = end - 1;
		if (is_merged(step, node, first))
			continue;
		while (first > 0 && !is_merged(step, node, first - 1))
			first--;
		image = add_node(step, (uint32_t)image, part_of(step, node, first, end - first));
	}
	return image;
}

/* Returns the node at which the path of a node ends in the outermost function. */
static int64_t outermost(struct step *step, uint32_t node)
{
	uint32_t parent = node_at(step, node)->parent, top = top_of(step, node), count = frames_at(step, node);
	if (top_of(step, parent) == top)
		return step->outer[parent];
	uint32_t inside = frames_from(step, node, top) - 1;
	if (inside == 0 || inside >= count)
		return node;
	return add_node(step, parent, part_of(step, node, inside, count - inside));
}

static int64_t collapse(struct step *step, uint32_t node)
{
	uint32_t parent = node_at(step, node)->parent, top = top_of(step, node);
	step->outer[node] = PROFILE_NONE;
	if (top == PROFILE_NONE)
		return node;
	int64_t outer = outermost(step, node);
	if (outer < 0)
		return outer;
	step->outer[node] = (uint32_t)outer;
	uint32_t inner = step->inner[view_node_of(step, node)];
	if (inner == top)
		return node;
	if (top_of(step, parent) == top && step->inner[view_node_of(step, parent)] == inner)
		return below_image(step, node);
	uint32_t inside = frames_from(step, node, inner) - 1;
	return inside == 0 ? outer : add_node(step, (uint32_t)outer, part_of(step, node, 0, inside));
}

static int64_t image_of(struct step *step, uint32_t node)
{
	switch (step->transform->kind) {
	case TRANSFORM_DROP:
		return drop(step, node);
	case TRANSFORM_MERGE:
		return merge(step, node);
	case TRANSFORM_COLLAPSE:
		return collapse(step, node);
	case TRANSFORM_FOCUS:
	case TRANSFORM_PATH:
	case TRANSFORM_ABOVE:
	default:
		return cut(step, node);
	}
}

static int find_images(struct step *step, struct error *error)
{
	bool selects = step->transform->kind == TRANSFORM_FOCUS || step->transform->kind == TRANSFORM_PATH;
	step->image[PROFILE_ROOT] = selects ? PROFILE_NONE : PROFILE_ROOT;
	if (step->outer)
		step->outer[PROFILE_ROOT] = PROFILE_NONE;
	for (uint32_t i = 1; i < step->node_count; i++) {
		int64_t image = image_of(step, i);
		if (image < 0)
			return error_set(error, (int)image, "cannot transform paths: %s", error_text((int)image));
		step->image[i] = (uint32_t)image;
	}
	return 0;
}

/* --- hits --- */

static void move_hits(struct profile *profile, const uint32_t *image)
{
	size_t kept = 0, labelled = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		uint32_t node = image[profile->hits[i].node];
		if (node == PROFILE_NONE)
			continue;
		if (i < profile->hit_label_count)
			profile->hit_labels[labelled++] = profile->hit_labels[i];
		profile->hits[kept] = profile->hits[i];
		profile->hits[kept++].node = node;
	}
	profile->hit_count = kept;
	profile->hit_label_count = labelled;
}

static void move_touches(struct profile *profile, const uint32_t *image)
{
	size_t kept = 0;
	for (size_t i = 0; i < profile->touch_count; i++) {
		uint32_t node = image[profile->touches[i].node];
		if (node == PROFILE_NONE)
			continue;
		profile->touches[kept] = profile->touches[i];
		profile->touches[kept++].node = node;
	}
	profile->touch_count = kept;
}

/* --- the step --- */

static int find_names(struct step *step, struct error *error)
{
	const struct transform *transform = step->transform;
	struct error own = { 0 };
	int status = transform->kind == TRANSFORM_PATH
			     ? lookup_path_init(&step->path, step->view, transform->name, &own)
			     : lookup_functions(step->view, transform->name, &step->labels, &own);
	return status < 0 ? error_set(error, own.code, "cannot apply transform %s: %s", QUOTE(transform->text),
				      own.message)
			  : 0;
}

static void step_release(struct step *step)
{
	label_set_release(&step->labels);
	lookup_what_if_release(&step->path);
	hash_map_release(&step->parts);
	free(step->depth);
	free(step->top);
	free(step->inner);
	free(step->image);
	free(step->outer);
}

int transform_paths(struct profile *copy, const struct transform *transform, const struct view_options *frames,
		    struct error *error)
{
	struct view_options options = *frames;
	options.by = VIEW_FUNCTION;
	options.every_resource = true;
	options.keep_view_nodes = true;
	if (copy->hit_count == 0) /* another transform left all hits out, and with them all names */
		return 0;
	struct view *view = view_recorded_new(copy, &options, error);
	if (!view)
		return error->code;
	struct step step = { .profile = copy,
			     .transform = transform,
			     .view = view,
			     .no_inlines = frames->no_inlines,
			     .node_count = copy->node_count };
	hash_map_init(&step.parts);
	int status = find_names(&step, error);
	if (status == 0)
		status = mark(&step, error);
	if (status == 0)
		status = find_images(&step, error);
	if (status == 0) {
		move_hits(copy, step.image);
		move_touches(copy, step.image);
	}
	step_release(&step);
	view_recorded_free(view);
	return status;
}
