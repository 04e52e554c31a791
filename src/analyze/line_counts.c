/*
 * Counts how often the lines of a function were executed. In a resource that counts lines, each path is a single
 * frame: a line with hits was executed. A line whose node has neither hits of any resource nor children was never
 * executed.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "base/array.h"
#include "base/hash_map.h"

struct counting {
	const struct view *view;
	const struct profile *profile;
	struct line_list *list;
	size_t capacity; /* of list->entries */
	struct hash_map by_line;
	bool *is_used; /* per node: it has hits of any resource, or children */
};

static int find_used(struct counting *counting)
{
	const struct profile *profile = counting->profile;
	counting->is_used = calloc(profile->node_count, sizeof(*counting->is_used));
	if (!counting->is_used)
		return ERROR_MEMORY;
	for (size_t i = 1; i < profile->node_count; i++)
		counting->is_used[profile->nodes[i].parent] = true;
	for (size_t i = 0; i < profile->hit_count; i++)
		counting->is_used[profile->hits[i].node] = true;
	return 0;
}

static int add(struct counting *counting, const struct profile_frame *frame, uint64_t hits)
{
	struct line_list *list = counting->list;
	uint64_t key = (uint64_t)frame->file << 32 | frame->line;
	uint32_t known = hash_map_get(&counting->by_line, key);
	if (known == HASH_MAP_NONE) {
		known = (uint32_t)list->count;
		if (ARRAY_RESERVE(list->entries, counting->capacity, list->count + 1) < 0 ||
		    hash_map_put(&counting->by_line, key, known) < 0)
			return ERROR_MEMORY;
		list->entries[list->count++] = (struct line_entry){ .file = frame->file, .line = frame->line };
	}
	list->entries[known].body += hits;
	list->entries[known].total += hits;
	return 0;
}

/* Adds the line of the node's innermost frame. */
static int add_node(struct counting *counting, size_t node, const struct label_set *functions)
{
	const struct profile *profile = counting->profile;
	const struct profile_location *location = &profile->locations[profile->nodes[node].location];
	uint64_t hits = counting->view->node_hits[node];
	if (profile->nodes[node].parent != PROFILE_ROOT || location->frame_count == 0 ||
	    (hits == 0 && counting->is_used[node]))
		return 0;
	const struct profile_frame *frame = &profile->frames[location->first_frame];
	if (frame->line == 0 || !label_set_has(functions, counting->view->function_label[frame->function]))
		return 0;
	return add(counting, frame, hits);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct line_entry *a = left, *b = right;
	const struct profile *profile = context;
	int order = strcmp(profile_string(profile, a->file), profile_string(profile, b->file));
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int add_nodes(struct counting *counting, const struct label_set *functions)
{
	struct line_list *list = counting->list;
	int result = find_used(counting);
	for (size_t i = 1; i < counting->profile->node_count && result == 0; i++)
		result = add_node(counting, i, functions);
	if (list->count > 1)
		qsort_r(list->entries, list->count, sizeof(*list->entries), compare, (void *)counting->profile);
	list->total = counting->view->total;
	return result;
}

struct line_list *analyze_line_counts(const struct view *view, const struct label_set *functions, struct error *error)
{
	struct counting counting = { .view = view,
				     .profile = view->profile,
				     .list = calloc(1, sizeof(*counting.list)) };
	hash_map_init(&counting.by_line);
	int result = counting.list ? add_nodes(&counting, functions) : ERROR_MEMORY;
	hash_map_release(&counting.by_line);
	free(counting.is_used);
	if (result == 0)
		return counting.list;
	line_list_free(counting.list);
	error_set(error, result, "out of memory for the lines of a function");
	return NULL;
}
