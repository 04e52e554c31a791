#include <stdlib.h>

#include "ui/page/engine.h"

double *picture_module_hits(const struct picture *picture)
{
	const struct view *view = picture->own;
	const size_t modules = view->profile->module_count;
	double *hits = calloc(modules + 1, sizeof(*hits));
	for (uint32_t node = 1; hits && node < view->node_count; node++) {
		uint32_t module = view->labels[view->label[node]].module;
		hits[module == PROFILE_NONE ? modules : module] += (double)view->hits[node];
	}
	return hits;
}
