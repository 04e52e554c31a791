#include <stdlib.h>

#include "render/info.h"
#include "ui/page/engine.h"

/* Writes the index of each module among the listed modules, `listed` for a module that only marks thread starts: the page knows the modules
 * as `info` lists them. */
static void number_modules(const struct profile *profile, size_t listed, size_t *number_of)
{
	size_t next = 0;
	for (size_t i = 0; i < profile->module_count; i++)
		number_of[i] = profile->modules[i].kind == MODULE_THREAD ? listed : next++;
}

double *picture_module_areas(const struct picture *picture)
{
	const struct view *view = picture->own;
	const struct profile *profile = view->profile;
	size_t listed = info_module_count(profile);
	double *areas = calloc(2 * (listed + 1), sizeof(*areas));
	size_t *number_of = calloc(profile->module_count + 1, sizeof(*number_of));
	if (!areas || !number_of) {
		free(areas);
		free(number_of);
		return NULL;
	}
	number_modules(profile, listed, number_of);
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t module = view->labels[view->label[node]].module;
		size_t number = module == PROFILE_NONE ? listed : number_of[module];
		areas[number] += (double)view->weight[node];
		areas[listed + 1 + number] += (double)view->hits[node];
	}
	free(number_of);
	return areas;
}
