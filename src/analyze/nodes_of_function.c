#include "analyze/nodes_of_function.h"

#include <stdlib.h>

#include "base/error.h"
#include "profile/thread_mark.h"

uint32_t location_shown_frames(const struct view *view, const struct profile_location *location, uint32_t *first)
{
	*first = location->first_frame;
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0)
		return 0;
	if (!view->options.no_inlines)
		return location->frame_count;
	*first += location->frame_count - 1;
	return 1;
}

/* Makes room for the nodes. An array that grows would take three times as much memory for a moment. */
static int reserve_nodes(struct nodes_of_function *nodes, const struct profile *profile, const bool *is_included)
{
	size_t count = 0;
	for (size_t i = 1; i < profile->node_count; i++)
		count += is_included[profile->nodes[i].location];
	nodes->nodes = malloc((count + 1) * sizeof(*nodes->nodes));
	return nodes->nodes ? 0 : ERROR_MEMORY;
}

/* Makes the nodes. `nearest` is, per profile node, the innermost included node on its path. */
static void find_nodes(struct nodes_of_function *nodes, const struct view *view, const bool *is_included,
		       uint32_t *nearest)
{
	const struct profile *profile = view->profile;
	nearest[PROFILE_ROOT] = FUNCTION_NODE_NONE;
	for (size_t i = 1; i < profile->node_count; i++) {
		uint32_t above = nearest[profile->nodes[i].parent];
		uint32_t location = profile->nodes[i].location;
		uint64_t hits = view->node_hits[i];
		bool is_shown = !view->options.no_tail_calls || !profile->locations[location].is_tail;
		if (is_included[location] && is_shown) {
			nodes->nodes[nodes->count] = (struct function_node){ .hits = hits,
									     .location = location,
									     .parent = above,
									     .first_child = FUNCTION_NODE_NONE,
									     .next_sibling = FUNCTION_NODE_NONE };
			above = (uint32_t)nodes->count++;
		}
		/* If threads are not stitched, a stack begins below each mark. */
		if (view->options.no_stitch && thread_mark_is(profile, (uint32_t)i))
			above = FUNCTION_NODE_NONE;
		nearest[i] = above;
		if (above != FUNCTION_NODE_NONE)
			nodes->nodes[above].charged += hits;
	}
}

int nodes_of_function_init(struct nodes_of_function *nodes, const struct view *view, const bool *is_included)
{
	*nodes = (struct nodes_of_function){ 0 };
	uint32_t *nearest = malloc(view->profile->node_count * sizeof(*nearest));
	int result = nearest ? reserve_nodes(nodes, view->profile, is_included) : ERROR_MEMORY;
	if (result == 0)
		find_nodes(nodes, view, is_included, nearest);
	free(nearest);
	/* Links children to parents and adds up weights: those below a node are complete when its turn comes. */
	for (size_t i = nodes->count; i-- > 0 && result == 0;) {
		struct function_node *node = &nodes->nodes[i];
		node->weight += node->charged;
		if (node->parent == FUNCTION_NODE_NONE)
			continue;
		struct function_node *parent = &nodes->nodes[node->parent];
		parent->weight += node->weight;
		node->next_sibling = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
	return result;
}

void nodes_of_function_release(struct nodes_of_function *nodes)
{
	free(nodes->nodes);
	*nodes = (struct nodes_of_function){ 0 };
}

/* Walks depth first. The way back follows `parent`, so that no stack is needed. */
static void walk(const struct nodes_of_function *nodes, uint32_t top, function_node_fn *enter, function_node_fn *leave,
		 void *context)
{
	uint32_t at = top;
	while (at != FUNCTION_NODE_NONE) {
		enter(context, &nodes->nodes[at]);
		uint32_t next = nodes->nodes[at].first_child;
		while (next == FUNCTION_NODE_NONE && at != FUNCTION_NODE_NONE) {
			leave(context, &nodes->nodes[at]);
			next = nodes->nodes[at].next_sibling;
			at = nodes->nodes[at].parent;
		}
		at = next;
	}
}

void nodes_of_function_walk(const struct nodes_of_function *nodes, function_node_fn *enter, function_node_fn *leave,
			    void *context)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		if (nodes->nodes[i].parent == FUNCTION_NODE_NONE)
			walk(nodes, i, enter, leave, context);
}
