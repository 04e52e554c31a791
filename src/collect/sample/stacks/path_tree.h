/*
 * From frames to nodes of the call path tree. Samples mostly go the way of an
 * earlier one, so each node knows the child that was last entered from it, and by
 * which address: following a path is then one comparison, some 5 ns, a frame.
 */
#ifndef COLLECT_SAMPLE_STACKS_PATH_TREE_H
#define COLLECT_SAMPLE_STACKS_PATH_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "unwind/unwind.h"

struct path_tree {
	struct profile *profile;   /* not owned */
	uint32_t unknown_location; /* for code that nobody knows */
	struct path_child {
		uint64_t pc;      /* run-time address of ... */
		uint32_t version; /* ... a process whose code_version is this; 0: not known */
		uint32_t node;    /* 0: none was entered yet */
	} * last;                 /* by node; owned */
	size_t last_count, last_capacity;
};

void path_tree_init(struct path_tree *tree, struct profile *profile, uint32_t unknown_location);
void path_tree_release(struct path_tree *tree);

/* The child of `node` at a frame, added if new; ERROR_MEMORY or ERROR_LIMIT. Of the frame
 * only pc, address and module count. `version`: struct process's code_version, or 0. */
int64_t path_tree_add(struct path_tree *tree, uint32_t node, const struct unwind_frame *frame, uint32_t version);

/* The child of `node` at a run-time address, if it is the one last entered; 0:
 * look up what is at that address, and add it. */
static inline uint32_t path_tree_follow(const struct path_tree *tree, uint32_t node, uint64_t pc, uint32_t version)
{
	if (node >= tree->last_count)
		return 0;
	const struct path_child *last = &tree->last[node];
	return last->pc == pc && last->version == version ? last->node : 0;
}

#endif
