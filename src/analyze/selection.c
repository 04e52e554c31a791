/* Selects the hits that a view counts: of one resource or of all resources, as the options choose. */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/huge_pages.h"
#include "base/parallel.h"
#include "base/slices.h"
#include "profile/module_name.h"

/* From this many rows on, a second thread is worth its start and its memory. */
enum { ROWS_FOR_TWO = 1 << 20 };

static int choose_threads(struct selection *selection)
{
	const struct profile *profile = selection->view->profile;
	const struct view_options *options = &selection->view->options;
	if (options->thread == VIEW_ANY && !options->processes)
		return 0;
	selection->threads = calloc(profile->thread_count + 1, sizeof(*selection->threads));
	if (!selection->threads)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->thread_count; i++)
		selection->threads[i] = (options->thread == VIEW_ANY || options->thread == i) &&
					(!options->processes || options->processes[profile->threads[i].process]);
	return 0;
}

static bool has_range(const struct view_options *options)
{
	return options->from_ns > 0 || options->to_ns > 0;
}

/* Finds how far the hits of a sample are apart, for a range of time. */
static int measure_hits(struct selection *selection)
{
	const struct profile *profile = selection->view->profile;
	if (!has_range(&selection->view->options))
		return 0;
	selection->hit_ns = calloc(profile->resource_count + 1, sizeof(*selection->hit_ns));
	if (!selection->hit_ns)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < profile->resource_count; i++)
		selection->hit_ns[i] = profile_hit_ns(profile, i);
	return 0;
}

int selection_begin(struct selection *selection, const struct view *view)
{
	*selection = (struct selection){ .view = view };
	if (choose_threads(selection) < 0 || measure_hits(selection) < 0)
		return ERROR_MEMORY;
	if (view->options.kernel != VIEW_KERNEL_ONLY)
		return 0;
	selection->left_out = selection_hidden_modules(view);
	return selection->left_out ? 0 : ERROR_MEMORY;
}

void selection_end(struct selection *selection)
{
	free(selection->threads);
	free(selection->left_out);
	free(selection->hit_ns);
}

static bool in_time(const struct view *view, uint64_t time_ns)
{
	const struct view_options *options = &view->options;
	if (!has_range(options))
		return true;
	if (time_ns == 0 || time_ns < view->profile->start_ns)
		return false;
	uint64_t since = time_ns - view->profile->start_ns;
	return since >= options->from_ns && (options->to_ns == 0 || since < options->to_ns);
}

static bool in_threads(const bool *chosen, uint32_t thread)
{
	return !chosen || (thread != PROFILE_NONE && chosen[thread]);
}

static bool counts_at(const struct selection *selection, uint32_t node)
{
	const struct profile *profile = selection->view->profile;
	return !selection->left_out ||
	       (node != PROFILE_ROOT && !selection->left_out[profile->locations[profile->nodes[node].location].module]);
}

bool selection_has(const struct selection *selection, uint32_t thread, uint64_t time_ns, uint32_t label_set,
		   uint32_t node)
{
	const bool *label_sets = selection->view->options.label_sets;
	return in_threads(selection->threads, thread) && in_time(selection->view, time_ns) &&
	       (!label_sets || label_sets[label_set]) && counts_at(selection, node);
}

/* Keeps the hits of a row that are in the range of time. Returns whether there are any. */
static bool take_time(const struct selection *selection, struct profile_hit *row)
{
	const struct view *view = selection->view;
	const uint64_t from_ns = view->options.from_ns, to_ns = view->options.to_ns, start_ns = view->profile->start_ns;
	const uint64_t samples = UINT64_C(1) + row->more_samples, hits = row->count / samples;
	const uint64_t step_ns = selection->hit_ns ? selection->hit_ns[row->resource] : 0;
	if (step_ns == 0 || hits < 2 || row->time_ns == 0 || row->time_ns < start_ns)
		return in_time(view, row->time_ns);
	/* Hit number i is i steps before the sample's time, or at the start of the recording. */
	const uint64_t since_ns = row->time_ns - start_ns;
	const uint64_t first = to_ns == 0 || since_ns < to_ns ? 0 : (since_ns - to_ns) / step_ns + 1;
	uint64_t end = from_ns == 0 ? hits : since_ns < from_ns ? 0 : (since_ns - from_ns) / step_ns + 1;
	end = end < hits ? end : hits;
	if (first >= end)
		return false;
	if (first > 0) {
		uint64_t left_ns = since_ns - (first - 1) * step_ns;
		row->time_ns = start_ns + (left_ns > step_ns ? left_ns - step_ns : 1); /* 0 means an unknown time */
	}
	if (first > 0 || end < hits)
		row->count = (end - first) * samples;
	return true;
}

bool selection_part(const struct selection *selection, size_t hit, struct profile_hit *taken)
{
	const struct profile *profile = selection->view->profile;
	const bool *label_sets = selection->view->options.label_sets;
	*taken = profile->hits[hit];
	return in_threads(selection->threads, taken->thread) &&
	       (!label_sets || label_sets[profile_hit_labels(profile, hit)]) && counts_at(selection, taken->node) &&
	       take_time(selection, taken);
}

bool *selection_hidden_modules(const struct view *view)
{
	const struct profile *profile = view->profile;
	bool *is_hidden = calloc(profile->module_count + 1, sizeof(*is_hidden));
	enum view_kernel kernel = view->options.kernel;
	for (uint32_t i = 0; is_hidden && i < profile->module_count; i++) {
		if (kernel == VIEW_KERNEL_HIDE)
			is_hidden[i] = module_is_kernel_code(profile, i);
		else if (kernel == VIEW_KERNEL_ONLY)
			is_hidden[i] = !module_is_kernel(profile, i);
	}
	return is_hidden;
}

/* A range of rows, added up by one thread. */
struct part {
	const struct selection *selection;
	size_t first, end; /* rows first ... end - 1 */
	uint64_t *node_hits;
	uint64_t total;
	uint64_t samples;
	double squares; /* sum of the squares of the samples' hits */
};

/* Returns the sum of the squares of the hits of a row's samples. */
static inline double squares_of(const struct profile_hit *hit)
{
	double square = (double)hit->count * (double)hit->count;
	return hit->more_samples == 0 ? square : square / (1 + (double)hit->more_samples);
}

/* The node of a row is prefetched this many rows ahead. */
enum { AHEAD = 24 };

/* `all` is a constant in each call, so that the usual selection, everything, is a loop without further tests. */
static inline __attribute__((always_inline)) void sum_rows(struct part *part, size_t begin, size_t end, bool all)
{
	const struct view *view = part->selection->view;
	uint32_t resource = view->options.resource;
	bool every = view->options.every_resource;
	uint64_t *node_hits = part->node_hits;
	const struct profile *profile = view->profile;
	uint64_t total = 0, samples = 0;
	double squares = 0;
	struct profile_hit taken;
	for (size_t i = begin; i < end; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		if (i + AHEAD < part->end)
			__builtin_prefetch(&node_hits[hit[AHEAD].node], 1);
		if (hit->resource != resource && !every)
			continue;
		if (!all && !selection_part(part->selection, i, &taken))
			continue;
		hit = all ? hit : &taken;
		node_hits[hit->node] += hit->count;
		total += hit->count;
		squares += squares_of(hit);
		samples += UINT64_C(1) + hit->more_samples;
	}
	part->total += total;
	part->samples += samples;
	part->squares += squares;
}

/* Adds up some rows; numbers begin at the first row of the part. */
static void sum_slice(void *context, size_t begin, size_t end)
{
	struct part *part = context;
	const struct selection *selection = part->selection;
	const struct view_options *options = &selection->view->options;
	if (!selection->threads && !selection->left_out && !options->label_sets && !has_range(options))
		sum_rows(part, part->first + begin, part->first + end, true);
	else
		sum_rows(part, part->first + begin, part->first + end, false);
}

static void sum_part(void *argument)
{
	struct part *part = argument;
	slices_run(part->end - part->first, sum_slice, part);
}

static bool has_unit(const struct view *view, const char *unit)
{
	return strcmp(profile_string(view->profile, view->resource->unit), unit) == 0;
}

/* Sets the numbers of samples of the selected rows. */
static void count_samples(struct view *view, uint64_t samples, double squares)
{
	double total = (double)view->total;
	if (!view->resource || !resource_has_samples(view->resource))
		return;
	bool is_merged = view->resource->kind == RESOURCE_MERGED;
	view->samples = is_merged ? view->total : samples;
	view->independent = (double)view->samples;
	if (is_merged || squares <= 0)
		return;
	/* Several boundaries of CPU time that a late tick observes at once show one place only: their number is the
	 * sample's weight (L. Kish, "Survey Sampling", 1965, section 11.7). */
	if (has_unit(view, "ns"))
		view->independent = total * total / squares;
}

/* Adds up all rows. A second thread adds up half of them if there are enough rows to pay for its own sums. */
static void sum_all(struct view *view, const struct selection *selection)
{
	const struct profile *profile = view->profile;
	struct part parts[2] = {
		{ .selection = selection, .end = profile->hit_count, .node_hits = view->node_hits },
	};
	uint64_t *second_hits = NULL;
	if (profile->hit_count >= ROWS_FOR_TWO && profile->hit_count >= 4 * profile->node_count)
		second_hits = calloc(profile->node_count, sizeof(*second_hits));
	huge_pages_advise(second_hits, profile->node_count * sizeof(*second_hits));
	if (second_hits) {
		parts[1] = parts[0];
		parts[1].node_hits = second_hits;
		parts[0].end /= 2;
		parts[1].first = parts[0].end;
	}
	parallel_run(sum_part, parts, second_hits ? 2 : 1, sizeof(parts[0]));
	for (size_t i = 0; i < profile->node_count && second_hits; i++)
		view->node_hits[i] += second_hits[i];
	free(second_hits);
	view->total = parts[0].total + parts[1].total;
	count_samples(view, parts[0].samples + parts[1].samples, parts[0].squares + parts[1].squares);
}

static int check_options(const struct view *view, struct error *error)
{
	const struct profile *profile = view->profile;
	const struct view_options *options = &view->options;
	if (!options->every_resource && options->resource >= profile->resource_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no resource number %u", options->resource);
	if (options->thread != VIEW_ANY && options->thread >= profile->thread_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no thread number %u", options->thread);
	return 0;
}

/* Copies *chosen to *kept and redirects *chosen to the copy. Does nothing if *chosen is NULL. */
static int copy_chosen(const bool **chosen, bool **kept, size_t count, struct error *error)
{
	if (!*chosen)
		return 0;
	*kept = calloc(count + 1, sizeof(**kept));
	if (!*kept)
		return error_set(error, ERROR_MEMORY, "out of memory while selecting hits");
	memcpy(*kept, *chosen, count * sizeof(**kept));
	*chosen = *kept;
	return 0;
}

/* Marks the nodes at which samples of any resource end. */
static void mark_sampled(struct view *view, const struct selection *selection)
{
	struct profile_hit taken;
	for (size_t i = 0; i < view->profile->hit_count; i++)
		if (selection_part(selection, i, &taken))
			view->node_sampled[taken.node] = true;
}

/* Moves the hits of hidden code to the code that called it. Callers have smaller numbers. */
static void move_to_callers(struct view *view, const bool *is_hidden)
{
	const struct profile *profile = view->profile;
	bool *sampled = view->node_sampled;
	for (size_t i = profile->node_count; i-- > 1;) {
		const struct profile_node *node = &profile->nodes[i];
		if (!is_hidden[profile->locations[node->location].module])
			continue;
		view->node_hits[node->parent] += view->node_hits[i];
		view->node_hits[i] = 0;
		if (sampled) {
			sampled[node->parent] = sampled[node->parent] || sampled[i];
			sampled[i] = false;
		}
	}
}

int selection_copy(struct view *view, struct error *error)
{
	const struct profile *profile = view->profile;
	int result = copy_chosen(&view->options.processes, &view->chosen_processes, profile->process_count, error);
	return result < 0 ? result
			  : copy_chosen(&view->options.label_sets, &view->chosen_label_sets, profile->label_set_count,
					error);
}

int selection_sum(struct view *view, struct error *error)
{
	int result = check_options(view, error);
	if (result < 0)
		return result;
	const struct profile *profile = view->profile;
	if (!view->options.every_resource)
		view->resource = &profile->resources[view->options.resource];
	view->node_hits = calloc(profile->node_count, sizeof(*view->node_hits));
	if (view->options.zeros)
		view->node_sampled = calloc(profile->node_count, sizeof(*view->node_sampled));
	struct selection selection;
	bool *is_hidden = selection_hidden_modules(view);
	int status = selection_begin(&selection, view);
	if (status < 0 || !view->node_hits || !is_hidden || (view->options.zeros && !view->node_sampled)) {
		result = error_set(error, ERROR_MEMORY, "out of memory while selecting hits");
	} else {
		huge_pages_advise(view->node_hits, profile->node_count * sizeof(*view->node_hits));
		sum_all(view, &selection);
		if (view->node_sampled)
			mark_sampled(view, &selection);
		if (view->options.kernel == VIEW_KERNEL_HIDE)
			move_to_callers(view, is_hidden);
	}
	selection_end(&selection);
	free(is_hidden);
	return result;
}
