#include "analyze/call_paths.h"

#include <stdlib.h>

#include "analyze/build.h"
#include "base/path.h"

static void describe_frame(const struct view *view, const struct view_label *label, struct path_frame *frame)
{
	const struct profile *profile = view->profile;
	const struct profile_function *function = &profile->functions[label->function];
	const struct profile_frame *row = &profile->frames[label->frame];
	bool by_line = view->options.by == VIEW_FRAME;
	frame->function = profile_string(profile, function->name);
	frame->linkage = profile_string(profile, function->linkage);
	frame->file = profile_string(profile, by_line ? row->file : function->file);
	frame->line = by_line ? row->line : function->line;
	frame->kind = row->kind;
	frame->inlined = by_line && row->inlined && !view->options.no_inlines;
}

static struct path_frame describe(const struct view *view, const struct view_label *label)
{
	const struct profile *profile = view->profile;
	struct path_frame frame = {
		.name = label->owner, .linkage = "", .file = "", .module = "", .kind = FRAME_NATIVE
	};
	if (label->frame != PROFILE_NONE)
		describe_frame(view, label, &frame);
	else
		frame.function = path_basename(label->text); /* an address after at most its module's path */
	if (label->module != PROFILE_NONE)
		frame.module = profile_string(profile, profile->modules[label->module].path);
	return frame;
}

static bool is_chosen(const struct selection *selection, size_t hit)
{
	const struct view_options *options = &selection->view->options;
	const struct profile_hit *row = &selection->view->profile->hits[hit];
	return (options->every_resource || row->resource == options->resource) && selection_has_hit(selection, hit);
}

/* Adds up the hits again, per resource: a view counts one resource, or the sum of all. */
static int sum_each_resource(struct call_paths *paths)
{
	const struct view *view = paths->view;
	const struct profile *profile = paths->profile;
	struct selection selection;
	int status = selection_begin(&selection, view);
	paths->values = paths->sums = calloc(paths->count * (paths->resource_count + (size_t)1), sizeof(*paths->sums));
	for (size_t i = 0; i < profile->hit_count && status == 0 && paths->sums; i++) {
		const struct profile_hit *row = &profile->hits[i];
		if (is_chosen(&selection, i))
			paths->sums[(size_t)view->view_node[row->node] * paths->resource_count + row->resource] +=
				row->count;
	}
	selection_end(&selection);
	return paths->sums ? status : ERROR_MEMORY;
}

static int fill_in(struct call_paths *paths)
{
	const struct view *view = paths->view;
	paths->parent = view->parent;
	paths->frame = view->label;
	paths->count = view->node_count;
	paths->depth = view->depth;
	paths->frame_count = view->label_count;
	paths->frames = malloc((paths->frame_count + 1) * sizeof(*paths->frames));
	if (!paths->frames)
		return ERROR_MEMORY;
	for (size_t i = 0; i < paths->frame_count; i++)
		paths->frames[i] = describe(view, &view->labels[i]);
	bool all = view->options.every_resource;
	paths->first_resource = all ? 0 : view->options.resource;
	paths->resource_count = all ? (uint32_t)paths->profile->resource_count : 1;
	paths->values = view->hits;
	return all ? sum_each_resource(paths) : 0;
}

struct call_paths *call_paths_new(const struct profile *profile, const struct view_options *options,
				  struct error *error)
{
	struct view_options all = *options;
	struct call_paths *paths = calloc(1, sizeof(*paths));
	all.keep_view_nodes = true;
	if (!paths) {
		error_set(error, ERROR_MEMORY, "out of memory for the call paths");
		return NULL;
	}
	paths->profile = profile;
	paths->view = view_new(profile, &all, error);
	if (paths->view && fill_in(paths) == 0)
		return paths;
	if (paths->view)
		error_set(error, ERROR_MEMORY, "out of memory for the call paths");
	call_paths_free(paths);
	return NULL;
}

void call_paths_free(struct call_paths *paths)
{
	if (!paths)
		return;
	view_free(paths->view);
	free(paths->frames);
	free(paths->sums);
	free(paths);
}

size_t call_paths_frames(const struct call_paths *paths, uint32_t path, uint32_t *frames)
{
	size_t length = 0;
	for (uint32_t at = path; at != 0; at = paths->parent[at])
		length++;
	size_t left = length;
	for (uint32_t at = path; at != 0; at = paths->parent[at])
		frames[--left] = paths->frame[at];
	return length;
}

/* Orders row numbers by thread, time and row. A thread's rows are mostly sorted by time already. */
static int compare_hits(const void *left, const void *right, void *context)
{
	const struct profile_hit *hits = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	if (hits[a].thread != hits[b].thread)
		return hits[a].thread < hits[b].thread ? -1 : 1;
	if (hits[a].time_ns != hits[b].time_ns)
		return hits[a].time_ns < hits[b].time_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static void set_hit(const struct call_paths *paths, size_t index, struct path_hit *hit)
{
	const struct profile *profile = paths->profile;
	const struct profile_hit *row = &profile->hits[index];
	*hit = (struct path_hit){
		.time_ns = row->time_ns,
		.path = paths->view->view_node[row->node],
		.resource = row->resource,
		.count = row->count,
		.thread = row->thread,
		.process = row->thread == PROFILE_NONE ? PROFILE_NONE : profile->threads[row->thread].process,
		.label_set = profile_hit_labels(profile, index),
	};
}

struct path_hit *call_paths_hits(const struct call_paths *paths, size_t *count)
{
	const struct profile *profile = paths->profile;
	size_t *chosen = malloc((profile->hit_count + 1) * sizeof(*chosen));
	struct selection selection;
	int status = selection_begin(&selection, paths->view);
	struct path_hit *hits = NULL;
	*count = 0;
	if (chosen && status == 0) {
		for (size_t i = 0; i < profile->hit_count; i++)
			if (is_chosen(&selection, i))
				chosen[(*count)++] = i;
		qsort_r(chosen, *count, sizeof(*chosen), compare_hits, profile->hits);
		hits = malloc((*count + 1) * sizeof(*hits));
	}
	for (size_t i = 0; hits && i < *count; i++)
		set_hit(paths, chosen[i], &hits[i]);
	selection_end(&selection);
	free(chosen);
	return hits;
}
