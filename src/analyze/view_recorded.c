/* Views without transforms. */
#include "analyze/view_recorded.h"

#include <stdlib.h>

#include "analyze/build.h"

static void build_release(struct view_build *build)
{
	buffer_release(&build->scratch);
	free(build->functions);
	free(build->modules);
	free(build->drafts);
	free(build->label_of_text);
	free(build->locations);
	free(build->parts);
	free(build->frame_labels);
	free(build->own_nodes);
	free(build->own_hits);
	free(build->own_sampled);
	free(build->shown);
	free(build->frame_line);
	hash_map_release(&build->line_ids);
	hash_map_release(&build->callsites);
}

static int build_view(struct view *view)
{
	struct view_build build = { .profile = view->profile, .view = view };
	buffer_init(&build.scratch);
	hash_map_init(&build.line_ids);
	hash_map_init(&build.callsites);
	int result = names_make(&build);
	if (result == 0)
		result = frame_labels_make(&build);
	if (result == 0)
		result = stitch_make(&build);
	if (result == 0)
		result = tree_build(&build);
	build_release(&build);
	return result;
}

struct view *view_recorded_new(const struct profile *profile, const struct view_options *options, struct error *error)
{
	struct view *view = calloc(1, sizeof(*view));
	struct strings *texts = calloc(1, sizeof(*texts));
	if (!view || !texts || strings_init(texts) < 0) {
		free(view);
		free(texts);
		error_set(error, ERROR_MEMORY, "out of memory for a view of the profile");
		return NULL;
	}
	view->profile = profile;
	view->options = *options;
	view->texts = texts;
	if (selection_copy(view, error) < 0 || selection_sum(view, error) < 0) {
		view_recorded_free(view);
		return NULL;
	}
	int result = build_view(view);
	if (result < 0) {
		error_set(error, result, "cannot build a view of the profile: %s", error_text(result));
		view_recorded_free(view);
		return NULL;
	}
	return view;
}

void view_recorded_free(struct view *view)
{
	if (!view)
		return;
	if (view->texts)
		strings_release(view->texts);
	free(view->texts);
	free(view->labels);
	free(view->parent);
	free(view->label);
	free(view->hits);
	free(view->weight);
	free(view->end);
	free(view->child);
	free(view->child_start);
	free(view->chosen_processes);
	free(view->chosen_label_sets);
	free(view->node_hits);
	free(view->node_sampled);
	free(view->sampled);
	free(view->view_node);
	free(view->tails);
	free(view->function_label);
	free(view);
}
