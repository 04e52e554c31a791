#include "collect/sample/stacks/kernel_path.h"

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
