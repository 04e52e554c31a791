/* Predicts the total if some call paths had another cost. */
#include <math.h>
#include <stdlib.h>

#include "analyze/analyses.h"
#include "analyze/build.h"
#include "analyze/walk.h"

/* Returns how many leading steps of the path match P after it is folded with the label, if `shared` of them match P. */
static uint32_t share(const struct what_if *path, const struct fold_walk *walk, uint32_t shared)
{
	uint32_t depth = fold_find(&walk->fold, walk->label);
	if (depth != FOLD_NONE)
		return shared < depth + 1 ? shared : depth + 1;
	bool goes_on = walk->fold.length == shared && shared < path->length &&
		       label_set_has(&path->steps[shared], walk->label);
	return goes_on ? shared + 1 : shared;
}

/* Raises saving[node] at the outermost nodes whose samples the downward profile credits to these paths, and sets
 * *affected to the hits of these samples. Returns 0 or ERROR_MEMORY. */
static int cover(const struct view *view, const struct what_if *path, double *saving, uint64_t *affected)
{
	struct fold_walk walk;
	if (fold_walk_init(&walk, view, &path->steps[0]) < 0)
		return ERROR_MEMORY;
	uint32_t locked = 0;
	*affected = 0;
	while (fold_walk_next(&walk)) {
		const struct walk_level *parent = fold_walk_parent(&walk);
		uint32_t shared = parent ? parent->mark : 0;
		bool is_path = walk.fold.length == path->length - 1 && shared == walk.fold.length &&
			       label_set_has(&path->steps[shared], walk.label);
		uint32_t after = share(path, &walk, shared);
		if (is_path && walk.node >= locked) {
			locked = view->end[walk.node];
			*affected += view->weight[walk.node];
			saving[walk.node] = fmax(saving[walk.node], 1 - path->factor);
		}
		fold_walk_enter(&walk, 0);
		fold_walk_parent(&walk)->mark = after;
	}
	fold_walk_release(&walk);
	return 0;
}

static int check_paths(const struct view *view, const struct what_if *paths, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (paths[i].length == 0)
			return error_set(error, ERROR_USAGE, "a path without a function");
		if (!isfinite(paths[i].factor) || paths[i].factor < 0)
			return error_set(error, ERROR_USAGE, "a cost can be multiplied by 0 or more, not by %g",
					 paths[i].factor);
		for (size_t k = 0; k < paths[i].length; k++)
			if (label_set_check(view, &paths[i].steps[k], error) < 0)
				return ERROR_NOT_FOUND;
	}
	return 0;
}

/* Each node gets the larger of its own and its parent's saving. Returns the sum over all hits. */
static double sum_savings(const struct view *view, double *saving)
{
	double sum = 0;
	for (size_t node = 1; node < view->node_count; node++) {
		saving[node] = fmax(saving[node], saving[view->parent[node]]);
		if (isfinite(saving[node]))
			sum += saving[node] * (double)view->hits[node];
	}
	return sum;
}

int analyze_what_if(const struct view *view, const struct what_if *paths, size_t count, struct what_if_result *result,
		    struct error *error)
{
	*result = (struct what_if_result){ .predicted = 1 };
	int status = check_paths(view, paths, count, error);
	if (status < 0)
		return status;
	double *saving = malloc(view->node_count * sizeof(*saving));
	result->affected = calloc(count + 1, sizeof(*result->affected));
	if (!saving || !result->affected)
		status = ERROR_MEMORY;
	for (size_t i = 0; i < view->node_count && status == 0; i++)
		saving[i] = -INFINITY;
	for (size_t i = 0; i < count && status == 0; i++)
		status = cover(view, &paths[i], saving, &result->affected[i]);
	if (status == 0 && view->total > 0)
		result->predicted = 1 - sum_savings(view, saving) / (double)view->total;
	free(saving);
	if (status < 0) {
		free(result->affected);
		result->affected = NULL;
		error_set(error, status, "out of memory for the prediction");
	}
	return status;
}
