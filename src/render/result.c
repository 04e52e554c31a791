#include "render/result.h"

#include <stdlib.h>

#include "analyze/subtree.h"
#include "base/array.h"

struct result *results_add(struct results *results, struct error *error)
{
	if (ARRAY_RESERVE(results->items, results->capacity, results->count + 1) < 0) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	struct result *result = &results->items[results->count++];
	*result = (struct result){ 0 };
	return result;
}

const struct view *results_keep_view(struct results *results, struct view *view, struct error *error)
{
	if (!view)
		return NULL;
	if (ARRAY_RESERVE(results->views, results->view_capacity, results->view_count + 1) < 0) {
		view_free(view);
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	return results->views[results->view_count++] = view;
}

static void result_release(struct result *result)
{
	free(result->errors);
	path_list_free(result->paths);
	subtree_free(result->subtree);
	line_list_free(result->lines);
	share_list_free(result->shares);
	own_code_free(result->own);
	kernel_work_free(result->kernel);
	diff_list_free(result->changes);
	if (result->data)
		result->type->free_data(result->data);
	free(result->root);
}

void results_drop_last(struct results *results)
{
	result_release(&results->items[--results->count]);
}

void results_release(struct results *results)
{
	for (size_t i = 0; i < results->count; i++)
		result_release(&results->items[i]);
	for (size_t i = 0; i < results->view_count; i++)
		view_free(results->views[i]);
	free(results->items);
	free(results->views);
	*results = (struct results){ 0 };
}
