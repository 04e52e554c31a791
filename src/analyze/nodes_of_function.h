/*
 * The nodes of a profile that belong to a function, or to several functions, as a tree with the hits that a view selected. Analyses of
 * lines and addresses need them, because a view's own nodes have neither. The caller chooses the locations that belong to the functions.
 * A walk enters each node before the nodes below it, and leaves it after them. The nodes that were entered and not left are
 * therefore the present stack, in which the caller finds recursion, to count its hits once.
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
