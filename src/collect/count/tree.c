/* The call paths of one thread, in memory. */
#include <stdlib.h>

#include "base/array.h"
#include "collect/count/tally.h"

int count_tree_init(struct count_tree *tree)
{
	*tree = (struct count_tree){ 0 };
	int64_t root = count_tree_add_path(tree, TALLY_NONE, 0);
	return root < 0 ? (int)root : 0;
}

void count_tree_release(struct count_tree *tree)
{
	free(tree->paths);
	free(tree->calls);
	free(tree->ticks);
	*tree = (struct count_tree){ 0 };
}

int64_t count_tree_add_path(struct count_tree *tree, uint32_t parent, uint64_t function)
{
	if (tree->path_count >= TALLY_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(tree->paths, tree->path_capacity, tree->path_count + 1) < 0)
		return ERROR_MEMORY;
	tree->paths[tree->path_count] = (struct count_path){
		.function = function,
		.parent = parent,
		.call = TALLY_NONE,
	};
	return (int64_t)tree->path_count++;
}

int64_t count_tree_add_call(struct count_tree *tree, const struct count_call *call)
{
	if (tree->call_count >= TALLY_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(tree->calls, tree->call_capacity, tree->call_count + 1) < 0)
		return ERROR_MEMORY;
	uint32_t number = (uint32_t)tree->call_count++;
	tree->calls[number] = *call;
	tree->calls[number].next = TALLY_NONE;
	if (call->child != TALLY_NONE && !(call->flags & TALLY_EDGE_FOLDED)) {
		tree->calls[number].next = tree->paths[call->child].call;
		tree->paths[call->child].call = number;
	}
	return number;
}

int64_t count_tree_add_tick(struct count_tree *tree, const struct count_tick *tick)
{
	if (tree->tick_count >= TALLY_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(tree->ticks, tree->tick_capacity, tree->tick_count + 1) < 0)
		return ERROR_MEMORY;
	tree->ticks[tree->tick_count] = *tick;
	return (int64_t)tree->tick_count++;
}
