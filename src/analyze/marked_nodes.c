#include "analyze/marked_nodes.h"

#include <stdlib.h>

#include "base/error.h"
#include "profile/thread_mark.h"

uint32_t marked_frames(const struct view *view, const struct profile_location *location, uint32_t *first)
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
static int reserve_nodes(struct marked_nodes *marked, const struct profile *profile, const bool *is_marked)
{
	size_t count = 0;
	for (size_t i = 1; i < profile->node_count; i++)
		count += is_marked[profile->nodes[i].location];
	marked->nodes = malloc((count + 1) * sizeof(*marked->nodes));
	return marked->nodes ? 0 : ERROR_MEMORY;
}

/* Makes the nodes. `nearest` is, per profile node, the innermost marked node on its path. */
static void find_nodes(struct marked_nodes *marked, const struct view *view, const bool *is_marked, uint32_t *nearest)
{
	const struct profile *profile = view->profile;
	nearest[PROFILE_ROOT] = MARKED_NONE;
	for (size_t i = 1; i < profile->node_count; i++) {
		uint32_t above = nearest[profile->nodes[i].parent];
		uint32_t location = profile->nodes[i].location;
		uint64_t hits = view->node_hits[i];
		bool is_shown = !view->options.no_tail_calls || !profile->locations[location].is_tail;
		if (is_marked[location] && is_shown) {
			marked->nodes[marked->count] = (struct marked_node){ .hits = hits,
									     .location = location,
									     .parent = above,
									     .first_child = MARKED_NONE,
									     .next_sibling = MARKED_NONE };
			above = (uint32_t)marked->count++;
		}
		/* If threads are not stitched, a stack begins below each mark. */
		if (view->options.no_stitch && thread_mark_is(profile, (uint32_t)i))
			above = MARKED_NONE;
		nearest[i] = above;
		if (above != MARKED_NONE)
			marked->nodes[above].charged += hits;
	}
}

int marked_nodes_init(struct marked_nodes *marked, const struct view *view, const bool *is_marked)
{
	*marked = (struct marked_nodes){ 0 };
	uint32_t *nearest = malloc(view->profile->node_count * sizeof(*nearest));
	int result = nearest ? reserve_nodes(marked, view->profile, is_marked) : ERROR_MEMORY;
	if (result == 0)
		find_nodes(marked, view, is_marked, nearest);
	free(nearest);
	/* Links children to parents and adds up weights: those below a node are complete when its turn comes. */
	for (size_t i = marked->count; i-- > 0 && result == 0;) {
		struct marked_node *node = &marked->nodes[i];
		node->weight += node->charged;
		if (node->parent == MARKED_NONE)
			continue;
		struct marked_node *parent = &marked->nodes[node->parent];
		parent->weight += node->weight;
		node->next_sibling = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
	return result;
}

void marked_nodes_release(struct marked_nodes *marked)
{
	free(marked->nodes);
	*marked = (struct marked_nodes){ 0 };
}

/* Walks depth first. The way back follows `parent`, so that no stack is needed. */
static void walk(const struct marked_nodes *marked, uint32_t top, marked_node_fn *enter, marked_node_fn *leave,
		 void *context)
{
	uint32_t at = top;
	while (at != MARKED_NONE) {
		enter(context, &marked->nodes[at]);
		uint32_t next = marked->nodes[at].first_child;
		while (next == MARKED_NONE && at != MARKED_NONE) {
			leave(context, &marked->nodes[at]);
			next = marked->nodes[at].next_sibling;
			at = marked->nodes[at].parent;
		}
		at = next;
	}
}

void marked_nodes_walk(const struct marked_nodes *marked, marked_node_fn *enter, marked_node_fn *leave, void *context)
{
	for (uint32_t i = 0; i < marked->count; i++)
		if (marked->nodes[i].parent == MARKED_NONE)
			walk(marked, i, enter, leave, context);
}
