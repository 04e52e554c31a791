/* Which hits a view counts: one resource, and what of it the options choose. */
#include <stdlib.h>

#include "analyze/build.h"

/* Whether each thread is in the selection. NULL in *chosen: all are, and hits
 * of no thread as well. */
static int choose_threads(const struct view *view, bool **chosen)
{
	const struct profile *profile = view->profile;
	const struct view_options *options = &view->options;
	*chosen = NULL;
	if (options->thread == VIEW_ANY && options->process == VIEW_ANY)
		return 0;
	*chosen = calloc(profile->thread_count + 1, sizeof(**chosen));
	if (!*chosen)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->thread_count; i++)
		(*chosen)[i] = (options->thread == VIEW_ANY || options->thread == i) &&
			       (options->process == VIEW_ANY || options->process == profile->threads[i].process);
	return 0;
}

static bool in_time(const struct view *view, const struct profile_hit *hit)
{
	const struct view_options *options = &view->options;
	if (options->from_ns == 0 && options->to_ns == 0)
		return true;
	if (hit->time_ns == 0 || hit->time_ns < view->profile->start_ns)
		return false;
	uint64_t since = hit->time_ns - view->profile->start_ns;
	return since >= options->from_ns && (options->to_ns == 0 || since < options->to_ns);
}

static bool in_threads(const bool *chosen, const struct profile_hit *hit)
{
	return !chosen || (hit->thread != PROFILE_NONE && chosen[hit->thread]);
}

/* The loop over all rows; `all` is constant in each use, so that the usual
 * selection, everything, is a loop without further tests. */
static inline __attribute__((always_inline)) uint64_t sum_rows(struct view *view, const bool *chosen, bool all)
{
	const struct profile_hit *hits = view->profile->hits;
	uint32_t resource = view->options.resource;
	uint64_t *node_hits = view->node_hits;
	uint64_t total = 0, rows = 0;
	for (size_t i = 0; i < view->profile->hit_count; i++) {
		const struct profile_hit *hit = &hits[i];
		if (hit->resource != resource)
			continue;
		if (!all && (!in_threads(chosen, hit) || !in_time(view, hit)))
			continue;
		node_hits[hit->node] += hit->count;
		total += hit->count;
		rows++;
	}
	view->total = total;
	return rows;
}

static int check_options(const struct view *view, struct error *error)
{
	const struct profile *profile = view->profile;
	const struct view_options *options = &view->options;
	if (options->resource >= profile->resource_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no resource number %u", options->resource);
	if (options->process != VIEW_ANY && options->process >= profile->process_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no process number %u", options->process);
	if (options->thread != VIEW_ANY && options->thread >= profile->thread_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no thread number %u", options->thread);
	return 0;
}

int selection_sum(struct view *view, struct error *error)
{
	int result = check_options(view, error);
	if (result < 0)
		return result;
	const struct profile *profile = view->profile;
	view->resource = &profile->resources[view->options.resource];
	view->node_hits = calloc(profile->node_count, sizeof(*view->node_hits));
	bool *chosen;
	if (!view->node_hits || choose_threads(view, &chosen) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory while selecting hits");
	bool all = !chosen && view->options.from_ns == 0 && view->options.to_ns == 0;
	uint64_t rows = all ? sum_rows(view, NULL, true) : sum_rows(view, chosen, false);
	free(chosen);
	if (view->resource->kind == RESOURCE_SAMPLED)
		view->samples = rows;
	else if (view->resource->kind == RESOURCE_MERGED)
		view->samples = view->total;
	return 0;
}
