/*
 * Hits per source line of a function. A view's nodes have no lines, so this walks the nodes of the profile, with the
 * hits that the view selected.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/build.h"
#include "analyze/nodes_of_function.h"
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
	bool charges;            /* `body` is the charged hits */
	size_t capacity;         /* of list->entries */
	struct hash_map by_line; /* (file, line) -> entry */
	uint32_t *frame_entry;   /* per frame: its entry, or PROFILE_NONE if it is of another function */
	bool *has_frame;         /* per location: it shows a frame of the function */
	struct nodes_of_function nodes;
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
		uint32_t first, count = location_shown_frames(lines->view, &profile->locations[i], &first);
		for (uint32_t k = 0; k < count; k++)
			if (lines->frame_entry[first + k] != PROFILE_NONE)
				lines->has_frame[i] = true;
	}
	return 0;
}

/* Gives a line the node's weight if it is not on the stack yet, and its own or charged hits. */
static void enter_node(void *context, const struct function_node *node)
{
	struct lines *lines = context;
	uint32_t first, count = location_shown_frames(lines->view, &lines->profile->locations[node->location], &first);
	bool is_innermost = true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t entry = lines->frame_entry[first + i];
		if (entry == PROFILE_NONE)
			continue;
		if (lines->charges && is_innermost)
			lines->list->entries[entry].body += node->charged;
		else if (!lines->charges && i == 0)
			lines->list->entries[entry].body += node->hits;
		is_innermost = false;
		if (lines->on_stack[entry]++ == 0)
			lines->list->entries[entry].total += node->weight;
	}
}

static void leave_node(void *context, const struct function_node *node)
{
	struct lines *lines = context;
	uint32_t first, count = location_shown_frames(lines->view, &lines->profile->locations[node->location], &first);
	for (uint32_t i = 0; i < count; i++)
		if (lines->frame_entry[first + i] != PROFILE_NONE)
			lines->on_stack[lines->frame_entry[first + i]]--;
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

static struct line_list *find_lines(const struct view *view, const struct label_set *functions, bool charges,
				    struct error *error)
{
	if (!view->function_label) {
		error_set(error, ERROR_USAGE, "cannot show source lines: the view is not by function");
		return NULL;
	}
	if (label_set_check(view, functions, error) < 0)
		return NULL;
	struct lines lines = {
		.view = view, .profile = view->profile, .list = calloc(1, sizeof(*lines.list)), .charges = charges
	};
	hash_map_init(&lines.by_line);
	int result = lines.list ? mark_frames(&lines, functions) : ERROR_MEMORY;
	if (result == 0)
		result = mark_locations(&lines);
	if (result == 0)
		result = nodes_of_function_init(&lines.nodes, view, lines.has_frame);
	if (result == 0) {
		nodes_of_function_walk(&lines.nodes, enter_node, leave_node, &lines);
		finish_list(&lines);
	}
	hash_map_release(&lines.by_line);
	free(lines.frame_entry);
	free(lines.has_frame);
	nodes_of_function_release(&lines.nodes);
	free(lines.on_stack);
	if (result == 0)
		return lines.list;
	line_list_free(lines.list);
	error_set(error, ERROR_MEMORY, "out of memory for the lines of a function");
	return NULL;
}

struct line_list *analyze_lines(const struct view *view, const struct label_set *functions, struct error *error)
{
	return find_lines(view, functions, false, error);
}

struct line_list *analyze_charged_lines(const struct view *view, const struct label_set *functions, struct error *error)
{
	return find_lines(view, functions, true, error);
}
