#include "analyze/hot_path.h"

uint32_t hot_path_next(const struct view *view, uint32_t node)
{
	uint32_t largest = PROFILE_NONE;
	for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1]; i++) {
		uint32_t child = view->child[i];
		if (largest == PROFILE_NONE || view->weight[child] > view->weight[largest])
			largest = child;
	}
	if (largest == PROFILE_NONE || (node > 0 && view->weight[largest] < view->weight[node] - view->weight[largest]))
		return PROFILE_NONE;
	return largest;
}
