#include "collect/sample/stacks/path_tree.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

void path_tree_init(struct path_tree *tree, struct profile *profile, uint32_t unknown_location)
{
	*tree = (struct path_tree){ .profile = profile, .unknown_location = unknown_location };
}

void path_tree_release(struct path_tree *tree)
{
	free(tree->last);
}

static int64_t location_of(const struct path_tree *tree, const struct unwind_frame *frame)
{
	if (frame->module == UINT32_MAX)
		return tree->unknown_location;
	return profile_add_location(tree->profile, frame->module, frame->address);
}

static bool is_at(const struct path_tree *tree, uint32_t node, const struct unwind_frame *frame)
{
	const struct profile_location *location = &tree->profile->locations[tree->profile->nodes[node].location];
	return location->address == frame->address && location->module == frame->module;
}

/* Returns the child of `node` at a frame, added if it is new, or a negative error. Compares locations: the
 * last child may have been entered by another process with the same files. */
static int64_t find(struct path_tree *tree, uint32_t node, const struct unwind_frame *frame)
{
	if (node < tree->last_count && tree->last[node].node && is_at(tree, tree->last[node].node, frame))
		return tree->last[node].node;
	int64_t location = location_of(tree, frame);
	return location < 0 ? location : profile_add_node(tree->profile, node, (uint32_t)location);
}

int64_t path_tree_add(struct path_tree *tree, uint32_t node, const struct unwind_frame *frame, uint32_t version)
{
	int64_t child = find(tree, node, frame);
	if (child < 0)
		return child;
	size_t nodes = tree->profile->node_count;
	if (ARRAY_RESERVE(tree->last, tree->last_capacity, nodes) < 0)
		return ERROR_MEMORY;
	while (tree->last_count < nodes)
		tree->last[tree->last_count++] = (struct path_child){ 0 };
	tree->last[node] = (struct path_child){ .pc = frame->pc, .version = version, .node = (uint32_t)child };
	return child;
}

int64_t kernel_path_add(struct path_tree *tree, uint32_t node, uint32_t module, const struct backend_sample *sample)
{
	for (size_t i = sample->kernel_count; i > 0; i--) {
		bool is_caller = i > 1;
		uint64_t pc = sample->kernel[i - 1] - is_caller;
		uint32_t child = path_tree_follow(tree, node, pc, 0);
		if (!child) {
			const struct unwind_frame frame = { .pc = pc, .address = pc, .module = module };
			int64_t added = path_tree_add(tree, node, &frame, 0);
			if (added < 0)
				return added;
			child = (uint32_t)added;
		}
		node = child;
	}
	return node;
}

int64_t kernel_path_add_whole(struct path_tree *tree, uint32_t node, uint32_t module)
{
	const struct unwind_frame whole = { .module = module };
	return path_tree_add(tree, node, &whole, 0);
}
