#include "analyze/call_paths.h"

#include <stdlib.h>

#include "analyze/build.h"
#include "analyze/own_labels.h"
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
	frame->home_file = profile_string(profile, function->file);
	frame->home_line = function->line;
	frame->kind = row->kind;
	frame->inlined = by_line && row->inlined && !view->options.no_inlines;
}

static struct path_frame describe(const struct view *view, const struct view_label *label)
{
	const struct profile *profile = view->profile;
	struct path_frame frame = {
		.name = label->owner, .linkage = "", .file = "", .home_file = "", .module = "", .kind = FRAME_NATIVE
	};
	if (label->frame != PROFILE_NONE)
		describe_frame(view, label, &frame);
	else
		frame.function = path_basename(label->text); /* an address after at most its module's path */
	if (label->module != PROFILE_NONE)
		frame.module = profile_string(profile, profile->modules[label->module].path);
	return frame;
}

static bool take(const struct selection *selection, size_t hit, struct profile_hit *taken)
{
	const struct view_options *options = &selection->view->options;
	const struct profile_hit *row = &selection->view->profile->hits[hit];
	return (options->every_resource || row->resource == options->resource) && selection_part(selection, hit, taken);
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
		struct profile_hit row;
		if (take(&selection, i, &row))
			paths->sums[(size_t)view->view_node[row.node] * paths->resource_count + row.resource] +=
				row.count;
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
	paths->view = view_new(profile, &all, error);
	paths->profile = paths->view ? paths->view->profile : profile;
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

bool *call_paths_own_frames(const struct call_paths *paths)
{
	return own_labels_find(paths->view);
}

/* Orders hits of a thread by time and row. */
static int compare_hits(const void *left, const void *right)
{
	const struct path_hit *a = left, *b = right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static struct path_hit describe_hit(const struct call_paths *paths, size_t row, const struct profile_hit *taken)
{
	const struct profile *profile = paths->profile;
	return (struct path_hit){
		.time_ns = taken->time_ns,
		.path = paths->view->view_node[taken->node],
		.resource = taken->resource,
		.count = taken->count,
		.thread = taken->thread,
		.process = taken->thread == PROFILE_NONE ? PROFILE_NONE : profile->threads[taken->thread].process,
		.label_set = profile_hit_labels(profile, row),
		.row = row,
	};
}

/* Returns the place of a row's thread in the order of threads: rows without one come last. */
static size_t thread_rank(const struct profile *profile, size_t row)
{
	uint32_t thread = profile->hits[row].thread;
	return thread == PROFILE_NONE ? profile->thread_count : thread;
}

static bool is_sorted(const struct path_hit *hits, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (hits[i - 1].time_ns > hits[i].time_ns)
			return false;
	return true;
}

/* Returns the selected hits in their order, or NULL without memory: first a counting sort by thread, then a sort of each thread whose rows
 * are not in the order of time. */
static struct path_hit *sorted_hits(const struct call_paths *paths, const struct selection *selection, size_t *count)
{
	const struct profile *profile = paths->profile;
	size_t threads = profile->thread_count + 1;
	size_t *ends = calloc(threads + 1, sizeof(*ends));
	struct profile_hit taken;
	for (size_t i = 0; ends && i < profile->hit_count; i++)
		ends[thread_rank(profile, i) + 1] += take(selection, i, &taken);
	for (size_t i = 1; ends && i <= threads; i++)
		ends[i] += ends[i - 1];
	struct path_hit *hits = ends ? malloc((ends[threads] + 1) * sizeof(*hits)) : NULL;
	if (!hits) {
		free(ends);
		return NULL;
	}
	*count = ends[threads];
	/* ends[thread]: at first where the thread's hits begin, and at last where they end */
	for (size_t i = 0; i < profile->hit_count; i++)
		if (take(selection, i, &taken))
			hits[ends[thread_rank(profile, i)]++] = describe_hit(paths, i, &taken);
	for (size_t i = 0, first = 0; i < threads; first = ends[i++])
		if (!is_sorted(hits + first, ends[i] - first))
			qsort(hits + first, ends[i] - first, sizeof(*hits), compare_hits);
	free(ends);
	return hits;
}

struct path_hit *call_paths_hits(const struct call_paths *paths, size_t *count)
{
	struct selection selection;
	*count = 0;
	struct path_hit *hits =
		selection_begin(&selection, paths->view) == 0 ? sorted_hits(paths, &selection, count) : NULL;
	selection_end(&selection);
	return hits;
}
