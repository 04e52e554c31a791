#include "explore/subtree.h"

#include <stdlib.h>

#include "base/hash_map.h"

/* Copies one node of the view; returns its node in the subtree, or negative. */
static int64_t copy_node(struct view *subtree, struct hash_map *by_edge, uint32_t parent, uint32_t label)
{
	uint64_t edge = (uint64_t)parent << 32 | label;
	uint32_t node = hash_map_get(by_edge, edge);
	if (node != HASH_MAP_NONE)
		return node;
	node = (uint32_t)subtree->node_count;
	if (hash_map_put(by_edge, edge, node))
		return ERROR_MEMORY;
	subtree->node_count++;
	subtree->parent[node] = parent;
	subtree->label[node] = label;
	return node;
}

/* As parents stand before children, one pass finds each node's copy from its
 * parent's: the root (0) if neither it nor a node above it has the label. */
static int copy_nodes(struct view *subtree, const struct view *view, uint32_t label, uint32_t *copies)
{
	struct hash_map by_edge;
	hash_map_init(&by_edge);
	int status = 0;
	for (size_t node = 1; node < view->node_count && !status; node++) {
		uint32_t above = copies[view->parent[node]];
		if (!above && view->label[node] != label)
			continue;
		int64_t copy = copy_node(subtree, &by_edge, above, view->label[node]);
		if (copy < 0) {
			status = (int)copy;
		} else {
			copies[node] = (uint32_t)copy;
			subtree->hits[copy] += view->hits[node];
		}
	}
	hash_map_release(&by_edge);
	return status;
}

/* Weights from the leaves up, and the children of each node side by side. */
static void finish(struct view *subtree)
{
	size_t count = subtree->node_count;
	for (size_t node = 0; node < count; node++)
		subtree->weight[node] = subtree->hits[node];
	for (size_t node = count - 1; node > 0; node--) {
		subtree->weight[subtree->parent[node]] += subtree->weight[node];
		subtree->child_start[subtree->parent[node] + 1]++;
	}
	for (size_t node = 0; node < count; node++)
		subtree->child_start[node + 1] += subtree->child_start[node];
	/* Filled from behind: child_start[n + 1] walks down to child_start[n]'s
	 * final place, and the array is then one to the left of it. */
	for (size_t node = count - 1; node > 0; node--)
		subtree->child[--subtree->child_start[subtree->parent[node] + 1]] = (uint32_t)node;
	for (size_t node = 0; node < count; node++)
		subtree->child_start[node] = subtree->child_start[node + 1];
	subtree->child_start[count] = (uint32_t)count - 1;
}

struct view *subtree_new(const struct view *view, uint32_t label, struct error *error)
{
	size_t count = view->node_count ? view->node_count : 1;
	struct view *subtree = malloc(sizeof(*subtree));
	uint32_t *copies = calloc(count, sizeof(*copies));
	if (subtree) {
		*subtree = *view;
		subtree->texts = NULL; /* the view's */
		subtree->parent = calloc(count, sizeof(*subtree->parent));
		subtree->label = calloc(count, sizeof(*subtree->label));
		subtree->hits = calloc(count, sizeof(*subtree->hits));
		subtree->weight = calloc(count, sizeof(*subtree->weight));
		subtree->child = calloc(count, sizeof(*subtree->child));
		subtree->child_start = calloc(count + 1, sizeof(*subtree->child_start));
		subtree->node_count = 1;
	}
	int status = !subtree || !copies || !subtree->parent || !subtree->label || !subtree->hits || !subtree->weight ||
				     !subtree->child || !subtree->child_start
			     ? ERROR_MEMORY
			     : 0;
	if (status == 0) {
		subtree->parent[0] = PROFILE_NONE;
		subtree->label[0] = PROFILE_NONE;
		status = copy_nodes(subtree, view, label, copies);
	}
	free(copies);
	if (status) {
		error_set(error, ERROR_MEMORY, "out of memory");
		subtree_free(subtree);
		return NULL;
	}
	finish(subtree);
	return subtree;
}

void subtree_free(struct view *subtree)
{
	if (!subtree)
		return;
	free(subtree->parent);
	free(subtree->label);
	free(subtree->hits);
	free(subtree->weight);
	free(subtree->child);
	free(subtree->child_start);
	free(subtree);
}
