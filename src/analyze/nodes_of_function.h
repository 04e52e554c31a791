/*
 * The nodes of a profile whose locations belong to some functions, as a tree: the parent of a node is the next node outside of it that
 * belongs to them, too. Each node has the number of hits that the view selects. Analyses of source lines and of addresses use this
 * tree, because the nodes of a view have functions only. The caller chooses the locations.
 *
 * A walk enters each node before the nodes below it, and leaves it after them. So the nodes that were entered and not left yet are
 * the calls of these functions on one stack. A recursive function is there more than once, and the caller then counts the hits of a
 * line only once.
 *
 * Life cycle: nodes_of_function_init, nodes_of_function_walk, nodes_of_function_release.
 */
#ifndef ANALYZE_NODES_OF_FUNCTION_H
#define ANALYZE_NODES_OF_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"

struct function_node {
	uint64_t hits; /* of the profile node */
	/* The hits of the profile nodes for which this is the innermost included node: itself, and nodes below it that are not included. */
	uint64_t charged;
	uint64_t weight; /* of its subtree */
	uint32_t location;
	uint32_t parent; /* FUNCTION_NODE_NONE: none */
	uint32_t first_child;
	uint32_t next_sibling;
};

#define FUNCTION_NODE_NONE UINT32_MAX

struct nodes_of_function {
	struct function_node *nodes; /* owned; a parent precedes its children */
	size_t count;
};

/* `is_included`: by location, whether it belongs to the functions. Returns 0 or ERROR_MEMORY; call nodes_of_function_release in any case. */
int nodes_of_function_init(struct nodes_of_function *nodes, const struct view *view, const bool *is_included);
void nodes_of_function_release(struct nodes_of_function *nodes);

typedef void function_node_fn(void *context, const struct function_node *node);
void nodes_of_function_walk(const struct nodes_of_function *nodes, function_node_fn *enter, function_node_fn *leave,
			    void *context);

/* Returns how many frames of a location the view shows, and sets *first to the innermost of them. */
uint32_t location_shown_frames(const struct view *view, const struct profile_location *location, uint32_t *first);

#endif
