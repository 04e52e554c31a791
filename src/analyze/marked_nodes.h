/*
 * The nodes of a profile that have a marked location, as a tree, with the hits that a view selected: for analyses of lines and
 * addresses, which a view's own nodes do not have. A walk enters a node before and leaves it after those below it, so that what was
 * entered and not left is the stack of marked locations; a recursion is found there, and its hits counted once.
 *
 * Life cycle: marked_nodes_init, marked_nodes_walk, marked_nodes_release.
 */
#ifndef ANALYZE_MARKED_NODES_H
#define ANALYZE_MARKED_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"

struct marked_node {
	uint64_t hits; /* of the profile node */
	uint64_t
		charged; /* of the profile nodes whose innermost marked node this is: itself, and unmarked ones below it */
	uint64_t weight; /* of its subtree */
	uint32_t location;
	uint32_t parent; /* MARKED_NONE: none */
	uint32_t first_child;
	uint32_t next_sibling;
};

#define MARKED_NONE UINT32_MAX

struct marked_nodes {
	struct marked_node *nodes; /* owned; a parent precedes its children */
	size_t count;
};

/* `is_marked`: by location. Returns 0 or ERROR_MEMORY; call marked_nodes_release in any case. */
int marked_nodes_init(struct marked_nodes *marked, const struct view *view, const bool *is_marked);
void marked_nodes_release(struct marked_nodes *marked);

typedef void marked_node_fn(void *context, const struct marked_node *node);
void marked_nodes_walk(const struct marked_nodes *marked, marked_node_fn *enter, marked_node_fn *leave, void *context);

/* Returns how many frames of a location the view shows, and sets *first to the innermost of them. */
uint32_t marked_frames(const struct view *view, const struct profile_location *location, uint32_t *first);

#endif
