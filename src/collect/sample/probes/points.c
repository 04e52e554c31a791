#include "collect/sample/probes/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int points_add(struct probe_points *points, const char *path, const struct probe_point *point)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->items[i].offset == point->offset && strcmp(points->items[i].path, path) == 0)
			return 0;
	struct probe_point copy = *point;
	copy.path = strdup(path);
	struct probe_point *items =
		copy.path ? realloc(points->items, (points->count + 1) * sizeof(*points->items)) : NULL;
	if (!items) {
		free(copy.path);
		return ERROR_MEMORY;
	}
	items[points->count++] = copy;
	points->items = items;
	return 0;
}

void probe_points_release(struct probe_points *points)
{
	for (size_t i = 0; i < points->count; i++)
		free(points->items[i].path);
	free(points->items);
	*points = (struct probe_points){ 0 };
}
