/* The function profile and the body profile. */
#include <stdlib.h>

#include "analyze/kernel_work.h"
#include "analyze/path_trie.h"

/* Makes one-label paths of all labels with hits; of a view with zeros, of all labels on its paths. */
static struct path_list *list_labels(const struct view *view, const uint64_t *hits, const bool *on_path,
				     struct error *error)
{
	struct path_list *list = path_list_new(view->label_count, 1, error);
	if (!list)
		return NULL;
	for (uint32_t label = 0; label < view->label_count; label++) {
		if (hits[label] == 0 && !(view->options.zeros && on_path[label]))
			continue;
		list->entries[list->count++] =
			(struct path_entry){ .hits = hits[label], .node = (uint32_t)list->node_count, .length = 1 };
		list->nodes[list->node_count++] = (struct path_node){ .label = label, .above = TRIE_NONE };
	}
	if (path_list_sort(list) < 0) {
		path_list_free(list);
		error_set(error, ERROR_MEMORY, "out of memory for a list of functions");
		return NULL;
	}
	return list;
}

/* In each stack, the outermost node of a function gets the weight. In depth-first order, nodes before
 * `inside[label]` are below such a node:
 *
 *   main(10) -> f(8) -> g(5) -> f(3)       f gets 8: the inner f is inside the outer */
struct path_list *analyze_functions(const struct view *view, struct error *error)
{
	uint64_t *hits = calloc(view->label_count + 1, sizeof(*hits));
	uint32_t *inside = calloc(view->label_count + 1, sizeof(*inside));
	bool *on_path = calloc(view->label_count + 1, sizeof(*on_path));
	struct path_list *list = NULL;
	if (hits && inside && on_path) {
		for (uint32_t node = 1; node < view->node_count; node++) {
			uint32_t label = view->label[node];
			if (node < inside[label])
				continue;
			inside[label] = view->end[node];
			hits[label] += view->weight[node];
			on_path[label] = true;
		}
		list = list_labels(view, hits, on_path, error);
	} else {
		error_set(error, ERROR_MEMORY, "out of memory for the function profile");
	}
	free(hits);
	free(inside);
	free(on_path);
	return list;
}

/* Makes the body profile of the labels that the own hits of each node count for. */
static struct path_list *list_bodies(const struct view *view, const uint32_t *labels, struct error *error)
{
	uint64_t *hits = calloc(view->label_count + 1, sizeof(*hits));
	bool *on_path = calloc(view->label_count + 1, sizeof(*on_path));
	struct path_list *list = NULL;
	for (size_t node = 1; node < view->node_count && hits && on_path; node++) {
		hits[labels[node]] += view->hits[node];
		on_path[view->label[node]] = true;
	}
	if (hits && on_path)
		list = list_labels(view, hits, on_path, error);
	else
		error_set(error, ERROR_MEMORY, "out of memory for the body profile");
	free(hits);
	free(on_path);
	return list;
}

struct path_list *analyze_body(const struct view *view, struct error *error)
{
	return list_bodies(view, view->label, error);
}

struct path_list *analyze_body_and_waits(const struct view *view, struct error *error)
{
	uint32_t *labels = kernel_wait_labels(view, error);
	struct path_list *list = labels ? list_bodies(view, labels, error) : NULL;
	free(labels);
	return list;
}
