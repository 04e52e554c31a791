/*
 * Hits per source line of a function. A view's nodes have no lines, so this walks the nodes of the profile, with the
 * hits that the view selected.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/build.h"
#include "base/array.h"
#include "base/hash_map.h"
#include "profile/thread_mark.h"

void line_list_free(struct line_list *list)
{
	if (!list)
		return;
	free(list->entries);
	free(list);
}

/* A profile node that has a frame of the function. These nodes form a tree. */
struct line_node {
	uint64_t hits;   /* of the profile node */
	uint64_t weight; /* of its subtree */
	uint32_t location;
	uint32_t parent; /* NO_NODE: none */
	uint32_t first_child;
	uint32_t next_sibling;
};

#define NO_NODE UINT32_MAX

struct lines {
	const struct view *view;
	const struct profile *profile;
	struct line_list *list;
	size_t capacity;         /* of list->entries */
	struct hash_map by_line; /* (file, line) -> entry */
	uint32_t *frame_entry;   /* per frame: its entry, or PROFILE_NONE if it is of another function */
	bool *has_frame;         /* per location: it shows a frame of the function */
	struct line_node *nodes;
	size_t node_count;
	size_t node_capacity;
	uint32_t *on_stack; /* per entry: number of frames at that line in the current stack */
};

static int64_t entry_of(struct lines *lines, const struct profile_frame *frame)
{
	struct line_list *list = lines->list;
	uint64_t key = (uint64_t)frame->file << 32 | frame->line;
	uint32_t known = hash_map_get(&lines->by_line, key);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(list->entries, lines->capacity, list->count + 1) < 0 ||
	    hash_map_put(&lines->by_line, key, (uint32_t)list->count) < 0)
		return ERROR_MEMORY;
	list->entries[list->count] = (struct line_entry){ .file = frame->file, .line = frame->line };
	return (int64_t)list->count++;
}

/* Returns how many frames of a location the view shows, and sets *first to the innermost of them. */
static uint32_t shown(const struct lines *lines, const struct profile_location *location, uint32_t *first)
{
	*first = location->first_frame;
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0)
		return 0;
	if (!lines->view->options.no_inlines)
		return location->frame_count;
	*first += location->frame_count - 1;
	return 1;
}

static int mark_frames(struct lines *lines, const struct label_set *functions)
{
	const struct profile *profile = lines->profile;
	lines->frame_entry = malloc((profile->frame_count + 1) * sizeof(*lines->frame_entry));
	if (!lines->frame_entry)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		lines->frame_entry[i] = PROFILE_NONE;
		if (!label_set_has(functions, lines->view->function_label[frame->function]))
			continue;
		int64_t entry = entry_of(lines, frame);
		if (entry < 0)
			return ERROR_MEMORY;
		lines->frame_entry[i] = (uint32_t)entry;
	}
	lines->on_stack = calloc(lines->list->count + 1, sizeof(*lines->on_stack));
	return lines->on_stack ? 0 : ERROR_MEMORY;
}

static int mark_locations(struct lines *lines)
{
	const struct profile *profile = lines->profile;
	lines->has_frame = calloc(profile->location_count + 1, sizeof(*lines->has_frame));
	if (!lines->has_frame)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->location_count; i++) {
		uint32_t first, count = shown(lines, &profile->locations[i], &first);
		for (uint32_t k = 0; k < count; k++)
			if (lines->frame_entry[first + k] != PROFILE_NONE)
				lines->has_frame[i] = true;
	}
	return 0;
}

/* Makes the line nodes. `nearest` is, per profile node, the innermost line node on its path. */
static int find_nodes(struct lines *lines, uint32_t *nearest)
{
	const struct profile *profile = lines->profile;
	nearest[PROFILE_ROOT] = NO_NODE;
	for (size_t i = 1; i < profile->node_count; i++) {
		uint32_t above = nearest[profile->nodes[i].parent];
		uint32_t location = profile->nodes[i].location;
		uint64_t hits = lines->view->node_hits[i];
		if (lines->has_frame[location]) {
			if (ARRAY_RESERVE(lines->nodes, lines->node_capacity, lines->node_count + 1) < 0)
				return ERROR_MEMORY;
			lines->nodes[lines->node_count] = (struct line_node){ .hits = hits,
									      .location = location,
									      .parent = above,
									      .first_child = NO_NODE,
									      .next_sibling = NO_NODE };
			above = (uint32_t)lines->node_count++;
		}
		/* If threads are not stitched, a stack begins below each mark. */
		if (lines->view->options.no_stitch && thread_mark_is(profile, (uint32_t)i))
			above = NO_NODE;
		nearest[i] = above;
		if (above != NO_NODE)
			lines->nodes[above].weight += hits;
	}
	return 0;
}

/* Links children to parents and adds up weights. Parents precede their children. */
static int link_nodes(struct lines *lines)
{
	uint32_t *nearest = malloc(lines->profile->node_count * sizeof(*nearest));
	int result = nearest ? find_nodes(lines, nearest) : ERROR_MEMORY;
	free(nearest);
	for (size_t i = lines->node_count; i-- > 0 && result == 0;) {
		struct line_node *node = &lines->nodes[i];
		if (node->parent == NO_NODE)
			continue;
		struct line_node *parent = &lines->nodes[node->parent];
		parent->weight += node->weight;
		node->next_sibling = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
	return result;
}

/* Gives a line the node's weight if it is not on the stack yet. */
static void enter_node(struct lines *lines, const struct line_node *node)
{
	uint32_t first, count = shown(lines, &lines->profile->locations[node->location], &first);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t entry = lines->frame_entry[first + i];
		if (entry == PROFILE_NONE)
			continue;
		if (i == 0)
			lines->list->entries[entry].body += node->hits;
		if (lines->on_stack[entry]++ == 0)
			lines->list->entries[entry].total += node->weight;
	}
}

static void leave_node(struct lines *lines, const struct line_node *node)
{
	uint32_t first, count = shown(lines, &lines->profile->locations[node->location], &first);
	for (uint32_t i = 0; i < count; i++)
		if (lines->frame_entry[first + i] != PROFILE_NONE)
			lines->on_stack[lines->frame_entry[first + i]]--;
}

/* Walks depth first. The way back follows `parent`, so that no stack is needed. */
static void walk_nodes(struct lines *lines, uint32_t top)
{
	uint32_t at = top;
	while (at != NO_NODE) {
		enter_node(lines, &lines->nodes[at]);
		uint32_t next = lines->nodes[at].first_child;
		while (next == NO_NODE && at != NO_NODE) {
			leave_node(lines, &lines->nodes[at]);
			next = lines->nodes[at].next_sibling;
			at = lines->nodes[at].parent;
		}
		at = next;
	}
}

static int compare_entries(const void *left, const void *right, void *context)
{
	const struct line_entry *a = left, *b = right;
	const struct profile *profile = context;
	int order = strcmp(profile_string(profile, a->file), profile_string(profile, b->file));
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Drops lines without hits and sorts the rest. */
static void finish_list(struct lines *lines)
{
	struct line_list *list = lines->list;
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].total > 0)
			list->entries[kept++] = list->entries[i];
	list->count = kept;
	list->total = lines->view->total;
	list->independent = lines->view->independent;
	if (kept > 1)
		qsort_r(list->entries, kept, sizeof(*list->entries), compare_entries, (void *)lines->profile);
}

struct line_list *analyze_lines(const struct view *view, const struct label_set *functions, struct error *error)
{
	if (!view->function_label) {
		error_set(error, ERROR_USAGE, "cannot show source lines: the view is not by function");
		return NULL;
	}
	if (label_set_check(view, functions, error) < 0)
		return NULL;
	struct lines lines = { .view = view, .profile = view->profile, .list = calloc(1, sizeof(*lines.list)) };
	hash_map_init(&lines.by_line);
	int result = lines.list ? mark_frames(&lines, functions) : ERROR_MEMORY;
	if (result == 0)
		result = mark_locations(&lines);
	if (result == 0)
		result = link_nodes(&lines);
	for (uint32_t i = 0; i < lines.node_count && result == 0; i++)
		if (lines.nodes[i].parent == NO_NODE)
			walk_nodes(&lines, i);
	if (result == 0)
		finish_list(&lines);
	hash_map_release(&lines.by_line);
	free(lines.frame_entry);
	free(lines.has_frame);
	free(lines.nodes);
	free(lines.on_stack);
	if (result == 0)
		return lines.list;
	line_list_free(lines.list);
	error_set(error, ERROR_MEMORY, "out of memory for the lines of a function");
	return NULL;
}
