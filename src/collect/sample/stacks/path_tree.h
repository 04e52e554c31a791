/*
 * Converts frames to nodes of the call path tree. Most samples follow the path of an earlier one. So each
 * node has the child that was last entered from it, with the address: each frame then costs one
 * comparison, some 5 ns.
 */
#ifndef COLLECT_SAMPLE_STACKS_PATH_TREE_H
#define COLLECT_SAMPLE_STACKS_PATH_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "profile/profile.h"
#include "unwind/unwind.h"

struct path_tree {
	struct profile *profile;   /* not owned */
	uint32_t unknown_location; /* for addresses in no module */
	struct path_child {
		uint64_t pc;      /* run-time address in ... */
		uint32_t version; /* ... a process with this code_version; 0: unknown */
		uint32_t node;    /* 0: none was entered yet */
	} * last;                 /* by node; owned */
	size_t last_count, last_capacity;
};

void path_tree_init(struct path_tree *tree, struct profile *profile, uint32_t unknown_location);
void path_tree_release(struct path_tree *tree);

/* Returns the child of `node` at a frame, added if it is new, or ERROR_MEMORY or ERROR_LIMIT. Uses only
 * pc, address and module of the frame. `version` is struct process's code_version, or 0. */
int64_t path_tree_add(struct path_tree *tree, uint32_t node, const struct unwind_frame *frame, uint32_t version);

/* Returns the child of `node` at a run-time address if it is the child that was last entered, otherwise 0:
 * the caller then looks up the address and adds the child. */
static inline uint32_t path_tree_follow(const struct path_tree *tree, uint32_t node, uint64_t pc, uint32_t version)
{
	if (node >= tree->last_count)
		return 0;
	const struct path_child *last = &tree->last[node];
	return last->pc == pc && last->version == version ? last->node : 0;
}

/* Adds the kernel's own stack of a sample to the tree, below the path of user mode that entered
 * the kernel. `module` is the id of the kernel's module in the profile. Returns the innermost
 * node, `node` if the sample has no kernel stack, or a negative error. */
int64_t kernel_path_add(struct path_tree *tree, uint32_t node, uint32_t module, const struct backend_sample *sample);

/* Adds one node for all of the kernel. */
int64_t kernel_path_add_whole(struct path_tree *tree, uint32_t node, uint32_t module);

#endif
