/*
 * Stitching: makes a copy of the profile's nodes for tree_build in which threads are below the paths that started
 * them, without the marks and the frames that are left out beside them.
 *
 *   main - start - pthread_create - clone3 - MARK - clone3 - start_thread - worker
 *
 *   main - start - pthread_create - clone3           hits of clone3 itself
 *                        `-------- worker
 *
 * It also leaves out the nodes of the kernel's functions, or all others, and those that were inserted for tail calls, if the view's
 * options request it; and the interpreter's
 * own frames above a function that it interprets, which follows the nearest frame of other code:
 *
 *   main - PyObject_Call - eval - work - sort - eval - key        work - key
 *                                                                  `-- sort      hits of sort itself
 *
 * A node that is left out below a mark gives its hits to the node with which its path now ends. If the frames to
 * show begin or end within a location, a new location is made for these frames alone. It `opens` if its first frame
 * is the outermost of a thread, that is, if nothing called it.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "analyze/thread_creator.h"
#include "base/array.h"
#include "profile/interpreter.h"
#include "profile/tail_calls.h"
#include "profile/thread_mark.h"

/* How much of a node's own stack, down to the node, is shown. */
enum extent {
	NOTHING_AT_TOP, /* nothing, and no creator above: the path is empty or only start code */
	NOTHING_YET,    /* a creator, but only start code of the thread itself */
	SOMETHING,
};

struct stitch {
	struct view_build *build;
	struct profile_node *nodes;
	uint64_t *hits;
	bool *sampled; /* NULL: no zeros */
	size_t count;
	uint32_t *shown; /* build->shown: per profile node, the node with which its path ends */
	uint8_t *extent; /* per profile node: enum extent */
	bool *is_hidden; /* per module: its frames are left out */
	/* (location, end) -> location of its first `end` frames; end 0: without its start code */
	struct hash_map parts;
	size_t location_capacity;
	size_t part_capacity;
};

static int64_t add_part(struct stitch *stitch, uint64_t key, struct location_labels labels, struct location_part part)
{
	struct view_build *build = stitch->build;
	if (build->location_count >= LABEL_END)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(build->locations, stitch->location_capacity, build->location_count + 1) < 0 ||
	    ARRAY_RESERVE(build->parts, stitch->part_capacity, build->part_count + 1) < 0 ||
	    hash_map_put(&stitch->parts, key, (uint32_t)build->location_count) < 0)
		return ERROR_MEMORY;
	build->parts[build->part_count++] = part;
	build->locations[build->location_count] = labels;
	return (int64_t)build->location_count++;
}

/* Returns a location with the frames of `location` that follow its start code: the first frames to show of a thread. */
static int64_t opening_part(struct stitch *stitch, uint32_t location)
{
	uint64_t key = (uint64_t)location << 32;
	uint32_t known = hash_map_get(&stitch->parts, key);
	if (known != HASH_MAP_NONE)
		return known;
	struct location_labels labels = stitch->build->locations[location];
	labels.first += labels.lead;
	labels.count -= labels.lead;
	labels.label = labels.top;
	labels.lead = 0;
	return add_part(stitch, key, labels, (struct location_part){ .origin = location, .opens = true });
}

/* Returns a location of the first `count` labels of another one. */
static int64_t first_part(struct stitch *stitch, uint32_t location, uint32_t count)
{
	struct view_build *build = stitch->build;
	uint64_t key = (uint64_t)location << 32 | count;
	uint32_t known = hash_map_get(&stitch->parts, key);
	if (known != HASH_MAP_NONE)
		return known;
	struct location_labels labels = build->locations[location];
	if (build->frame_label_count + count + 1 >= LABEL_END)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(build->frame_labels, build->frame_label_capacity, build->frame_label_count + count + 1) < 0)
		return ERROR_MEMORY;
	uint32_t *run = build->frame_labels + build->frame_label_count;
	memcpy(run, build->frame_labels + labels.first, count * sizeof(*run));
	run[count] = LABEL_END;
	labels.first = (uint32_t)build->frame_label_count;
	labels.count = count;
	build->frame_label_count += count + 1;
	struct location_part part = { .origin = location };
	if (location >= build->profile->location_count)
		part = build->parts[location - build->profile->location_count];
	return add_part(stitch, key, labels, part);
}

static int64_t add_node(struct stitch *stitch, uint32_t parent, int64_t location)
{
	if (location < 0)
		return location;
	stitch->nodes[stitch->count] = (struct profile_node){ .parent = parent, .location = (uint32_t)location };
	return (int64_t)stitch->count++;
}

static bool is_left_out(const struct stitch *stitch, uint32_t location)
{
	const struct view *view = stitch->build->view;
	const struct profile_location *row = &view->profile->locations[location];
	return stitch->is_hidden[row->module] || (row->is_tail && view->options.no_tail_calls);
}

/* Returns the node below which the thread that starts at `mark` is shown. */
static int64_t creator_of(struct stitch *stitch, uint32_t mark)
{
	const struct view_build *build = stitch->build;
	const struct profile *profile = build->profile;
	const struct view_options *options = &build->view->options;
	if (options->no_stitch)
		return PROFILE_ROOT;
	if (options->untrimmed)
		return stitch->shown[profile->nodes[mark].parent];
	struct thread_creator creator = thread_creator_of(profile, mark, options->no_inlines, options->native_frames);
	uint32_t node = stitch->shown[creator.node];
	if (stitch->extent[creator.node] == NOTHING_AT_TOP)
		return PROFILE_ROOT;
	if (creator.frames == 0 || stitch->extent[creator.node] == NOTHING_YET)
		return node;
	uint32_t location = profile->nodes[creator.node].location;
	const struct location_labels *labels = &build->locations[location];
	uint32_t location_shown = stitch->nodes[node].location;
	if (creator.frames == labels->count || is_left_out(stitch, location))
		return node;
	uint32_t left_out = labels->count - build->locations[location_shown].count;
	return add_node(stitch, stitch->nodes[node].parent,
			first_part(stitch, location_shown, creator.frames - left_out));
}

static int place_mark(struct stitch *stitch, uint32_t mark)
{
	int64_t node = creator_of(stitch, mark);
	if (node < 0)
		return (int)node;
	stitch->shown[mark] = (uint32_t)node;
	stitch->extent[mark] = node == PROFILE_ROOT ? NOTHING_AT_TOP : NOTHING_YET;
	return 0;
}

/* Places a node that is not a mark. */
static int place_node(struct stitch *stitch, uint32_t id)
{
	const struct view_build *build = stitch->build;
	const struct profile_node *node = &build->profile->nodes[id];
	const struct location_labels *labels = &build->locations[node->location];
	uint32_t caller = build->view->options.native_frames ? node->parent : interpreter_caller(build->profile, id);
	uint32_t parent = stitch->shown[caller];
	uint8_t extent = stitch->extent[caller];
	bool is_start = labels->lead == labels->count;
	int64_t shown;
	if (is_left_out(stitch, node->location)) {
		stitch->extent[id] = extent;
		stitch->shown[id] = parent;
		return 0;
	}
	if (extent != NOTHING_YET)
		shown = add_node(stitch, parent, node->location);
	else if (is_start)
		shown = parent;
	else
		shown = add_node(stitch, parent, opening_part(stitch, node->location));
	stitch->extent[id] = is_start ? extent : SOMETHING;
	stitch->shown[id] = (uint32_t)shown;
	return shown < 0 ? (int)shown : 0;
}

static int place_all(struct stitch *stitch)
{
	const struct profile *profile = stitch->build->profile;
	const uint64_t *hits = stitch->build->view->node_hits;
	const bool *sampled = stitch->build->view->node_sampled;
	stitch->nodes[0] = profile->nodes[0];
	stitch->hits[0] = hits[0];
	stitch->count = 1;
	stitch->extent[0] = NOTHING_AT_TOP;
	int result = 0;
	for (uint32_t i = 1; i < profile->node_count && result == 0; i++) {
		result = thread_mark_is(profile, i) ? place_mark(stitch, i) : place_node(stitch, i);
		if (result == 0)
			stitch->hits[stitch->shown[i]] += hits[i];
		if (result == 0 && sampled && sampled[i])
			stitch->sampled[stitch->shown[i]] = true;
	}
	return result;
}

/* Returns whether all nodes are shown where they are. */
static bool is_as_recorded(const struct view_build *build)
{
	const struct profile *profile = build->profile;
	if (build->view->options.kernel != VIEW_KERNEL_SHOW ||
	    (!build->view->options.native_frames && interpreter_has_functions(profile)) ||
	    (build->view->options.no_tail_calls && tail_calls_any(profile)))
		return false;
	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].kind == MODULE_THREAD)
			return false;
	return true;
}

int stitch_make(struct view_build *build)
{
	const struct profile *profile = build->profile;
	build->nodes = profile->nodes;
	build->node_hits = build->view->node_hits;
	build->node_sampled = build->view->node_sampled;
	build->node_count = profile->node_count;
	if (is_as_recorded(build))
		return 0;
	/* Each mark may need one new node, for a part of its creator's location. */
	size_t limit = profile->node_count;
	for (uint32_t i = 1; i < profile->node_count; i++)
		limit += thread_mark_is(profile, i);
	if (limit >= PROFILE_NONE)
		return ERROR_LIMIT;
	struct stitch stitch = { .build = build, .location_capacity = profile->location_count + 1 };
	hash_map_init(&stitch.parts);
	build->nodes = build->own_nodes = stitch.nodes = malloc(limit * sizeof(*stitch.nodes));
	build->node_hits = build->own_hits = stitch.hits = calloc(limit, sizeof(*stitch.hits));
	if (build->node_sampled)
		build->node_sampled = build->own_sampled = stitch.sampled = calloc(limit, sizeof(*stitch.sampled));
	build->shown = stitch.shown = calloc(profile->node_count, sizeof(*stitch.shown));
	stitch.extent = calloc(profile->node_count, sizeof(*stitch.extent));
	stitch.is_hidden = selection_hidden_modules(build->view);
	bool has_room = stitch.nodes && stitch.hits && stitch.shown && stitch.extent && stitch.is_hidden &&
			(stitch.sampled || !build->view->node_sampled);
	int result = has_room ? place_all(&stitch) : ERROR_MEMORY;
	build->node_count = stitch.count;
	hash_map_release(&stitch.parts);
	free(stitch.extent);
	free(stitch.is_hidden);
	return result;
}
