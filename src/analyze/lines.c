/*
 * Hits per source line of one function. The view's nodes have forgotten lines, so
 * this goes over the profile's own nodes and the hits that the view selected.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "base/array.h"
#include "base/hash_map.h"

void line_list_free(struct line_list *list)
{
	if (!list)
		return;
	free(list->entries);
	free(list);
}

struct lines {
	const struct view *view;
	const struct profile *profile;
	struct line_list *list;
	size_t capacity; /* of list->entries */
	struct hash_map by_place; /* (file, line) -> entry */
	uint32_t *frame_entry; /* per frame: its entry, or PROFILE_NONE: another function's */
	/* The profile's nodes above a hit, as a tree. */
	uint64_t *weight;
	uint32_t *first_child;
	uint32_t *next_sibling;
	/* The walk down that tree. */
	uint32_t *on_stack; /* per entry: frames of the current stack at that line */
};

static int64_t entry_of(struct lines *lines, const struct profile_frame *frame)
{
	struct line_list *list = lines->list;
	uint64_t key = (uint64_t)frame->file << 32 | frame->line;
	uint32_t known = hash_map_get(&lines->by_place, key);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(list->entries, lines->capacity, list->count + 1) < 0 ||
	    hash_map_put(&lines->by_place, key, (uint32_t)list->count) < 0)
		return ERROR_MEMORY;
	list->entries[list->count] = (struct line_entry){ .file = frame->file, .line = frame->line };
	return (int64_t)list->count++;
}

/* Frames of a location that the view shows; innermost first. */
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

static int mark_frames(struct lines *lines, uint32_t label)
{
	const struct profile *profile = lines->profile;
	lines->frame_entry = malloc((profile->frame_count + 1) * sizeof(*lines->frame_entry));
	if (!lines->frame_entry)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		lines->frame_entry[i] = PROFILE_NONE;
		if (lines->view->function_label[frame->function] != label)
			continue;
		int64_t entry = entry_of(lines, frame);
		if (entry < 0)
			return ERROR_MEMORY;
		lines->frame_entry[i] = (uint32_t)entry;
	}
	lines->on_stack = calloc(lines->list->count + 1, sizeof(*lines->on_stack));
	return lines->on_stack ? 0 : ERROR_MEMORY;
}

static int link_nodes(struct lines *lines)
{
	const struct profile *profile = lines->profile;
	size_t count = profile->node_count;
	lines->weight = malloc(count * sizeof(*lines->weight));
	lines->first_child = malloc(count * sizeof(*lines->first_child));
	lines->next_sibling = malloc(count * sizeof(*lines->next_sibling));
	if (!lines->weight || !lines->first_child || !lines->next_sibling)
		return ERROR_MEMORY;
	memcpy(lines->weight, lines->view->node_hits, count * sizeof(*lines->weight));
	memset(lines->first_child, 0xff, count * sizeof(*lines->first_child));
	memset(lines->next_sibling, 0xff, count * sizeof(*lines->next_sibling));
	for (size_t i = count - 1; i > 0; i--) {
		if (lines->weight[i] == 0)
			continue;
		uint32_t parent = profile->nodes[i].parent;
		lines->weight[parent] += lines->weight[i];
		lines->next_sibling[i] = lines->first_child[parent];
		lines->first_child[parent] = (uint32_t)i;
	}
	return 0;
}

/* A line gets the weight where it comes onto the stack for the first time. */
static void enter_node(struct lines *lines, uint32_t node)
{
	const struct profile_location *location = &lines->profile->locations[lines->profile->nodes[node].location];
	uint32_t first, count = shown(lines, location, &first);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t entry = lines->frame_entry[first + i];
		if (entry == PROFILE_NONE)
			continue;
		if (i == 0)
			lines->list->entries[entry].body += lines->view->node_hits[node];
		if (lines->on_stack[entry]++ == 0)
			lines->list->entries[entry].total += lines->weight[node];
	}
}

static void leave_node(struct lines *lines, uint32_t node)
{
	const struct profile_location *location = &lines->profile->locations[lines->profile->nodes[node].location];
	uint32_t first, count = shown(lines, location, &first);
	for (uint32_t i = 0; i < count; i++)
		if (lines->frame_entry[first + i] != PROFILE_NONE)
			lines->on_stack[lines->frame_entry[first + i]]--;
}

/* Depth first; parents are the way back, so no stack is needed. */
static void walk_nodes(struct lines *lines)
{
	uint32_t node = lines->first_child[PROFILE_ROOT];
	while (node != PROFILE_NONE) {
		enter_node(lines, node);
		uint32_t next = lines->first_child[node];
		while (next == PROFILE_NONE && node != PROFILE_ROOT) {
			leave_node(lines, node);
			next = lines->next_sibling[node];
			node = lines->profile->nodes[node].parent;
		}
		node = next;
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
	list->samples = lines->view->samples;
	if (kept > 1)
		qsort_r(list->entries, kept, sizeof(*list->entries), compare_entries, (void *)lines->profile);
}

struct line_list *analyze_lines(const struct view *view, uint32_t label, struct error *error)
{
	if (!view->function_label) {
		error_set(error, ERROR_USAGE, "source lines are shown of functions, and this view is not by function");
		return NULL;
	}
	if (label >= view->label_count) {
		error_set(error, ERROR_NOT_FOUND, "the view has no label number %u", label);
		return NULL;
	}
	struct lines lines = { .view = view, .profile = view->profile, .list = calloc(1, sizeof(*lines.list)) };
	hash_map_init(&lines.by_place);
	int result = lines.list ? mark_frames(&lines, label) : ERROR_MEMORY;
	if (result == 0)
		result = link_nodes(&lines);
	if (result == 0) {
		walk_nodes(&lines);
		finish_list(&lines);
	}
	hash_map_release(&lines.by_place);
	free(lines.frame_entry);
	free(lines.weight);
	free(lines.first_child);
	free(lines.next_sibling);
	free(lines.on_stack);
	if (result == 0)
		return lines.list;
	line_list_free(lines.list);
	error_set(error, ERROR_MEMORY, "out of memory for the lines of a function");
	return NULL;
}
