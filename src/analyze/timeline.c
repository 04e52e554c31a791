#include "analyze/timeline.h"

#include <stdlib.h>

#include "analyze/build.h"
#include "analyze/transform.h"
#include "profile/thread_mark.h"

/* Returns the period of a time since the start of the recording, which is in the timeline's range. */
static size_t period_of(const struct timeline *timeline, uint64_t since_ns)
{
	double part = (double)(since_ns - timeline->from_ns) / (double)(timeline->to_ns - timeline->from_ns);
	size_t period = (size_t)(part * (double)timeline->period_count);
	return period < timeline->period_count ? period : timeline->period_count - 1;
}

/* Returns for each node the innermost mark above it, or PROFILE_ROOT; an array that the caller frees, or NULL: out of memory. */
static uint32_t *marks_above(const struct profile *profile)
{
	uint32_t *marks = malloc((profile->node_count + 1) * sizeof(*marks));
	if (!marks)
		return NULL;
	marks[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t i = PROFILE_ROOT + 1; i < profile->node_count; i++)
		marks[i] = thread_mark_is(profile, i) ? i : marks[profile->nodes[i].parent];
	return marks;
}

/* Returns the ns that the hits of a row took, up to its time. A sample of time is taken at the end of a wait, or late, and
 * then has all its hits at once. 0: it is no time. */
static uint64_t span_of(const struct profile *profile, const struct profile_hit *hit)
{
	const uint64_t step_ns = profile_hit_ns(profile, hit->resource);
	const uint64_t hits = hit->count / ((uint64_t)hit->more_samples + 1);
	const uint64_t since_ns = hit->time_ns - profile->start_ns;
	if (hits < 2 || step_ns == 0)
		return 0;
	const double ns = (double)hits * (double)step_ns;
	return ns < (double)since_ns ? (uint64_t)ns : since_ns;
}

/* Adds a row's hits to the periods that its span covers: to each as many as it has of the span. */
static void spread(struct timeline *timeline, double *periods, const struct profile_hit *hit, uint64_t since_ns,
		   uint64_t span_ns)
{
	const double period_ns = (double)(timeline->to_ns - timeline->from_ns) / (double)timeline->period_count;
	const double hits = (double)hit->count, start = (double)(since_ns - span_ns) - (double)timeline->from_ns;
	const size_t last = since_ns < timeline->to_ns ? period_of(timeline, since_ns) : timeline->period_count - 1;
	double done = start < 0 ? hits * -start / (double)span_ns : 0; /* before the first period */
	for (size_t i = start > 0 ? period_of(timeline, since_ns - span_ns) : 0; i < last; i++) {
		double so_far = hits * (((double)(i + 1) * period_ns - start) / (double)span_ns);
		periods[i] += so_far - done;
		done = so_far;
	}
	/* Hits behind the last period are of no period. */
	double end = since_ns <= timeline->to_ns
			     ? hits
			     : hits * ((double)(timeline->to_ns - timeline->from_ns) - start) / (double)span_ns;
	periods[last] += end - done;
}

static bool is_of_view(const struct selection *selection, size_t hit)
{
	const struct view *view = selection->view;
	struct profile_hit taken;
	return (view->options.every_resource || view->profile->hits[hit].resource == view->options.resource) &&
	       selection_part(selection, hit, &taken);
}

/* Returns the row of a hit, or PROFILE_NONE. */
static uint32_t row_of(const struct timeline *timeline, size_t hit)
{
	const struct profile *profile = timeline->profile;
	return timeline->groups ? timeline->groups->group_of_set[profile_hit_labels(profile, hit)]
				: profile->hits[hit].thread;
}

/* A thread's first hits may be at its start in the kernel, or on a broken path, which have no mark. */
static void count(struct timeline *timeline, const struct selection *selection, const uint32_t *marks)
{
	const struct profile *profile = selection->view->profile;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		if (!is_of_view(selection, i))
			continue;
		if (hit->thread != PROFILE_NONE && timeline->marks[hit->thread] == PROFILE_ROOT)
			timeline->marks[hit->thread] = marks[hit->node];
		const uint32_t row = row_of(timeline, i);
		uint64_t since_ns = hit->time_ns - profile->start_ns;
		bool is_later = since_ns > timeline->to_ns && selection->view->options.to_ns == 0;
		if (hit->time_ns == 0 || hit->time_ns < profile->start_ns || row == PROFILE_NONE ||
		    since_ns < timeline->from_ns || is_later)
			timeline->outside += hit->count;
		else
			spread(timeline, timeline->hits + row * timeline->period_count, hit, since_ns,
			       span_of(profile, hit));
	}
}

/* Allocates the rows. Returns 0 or a negative error. */
static int make_rows(struct timeline *timeline, const struct view *view, uint32_t key, struct error *error)
{
	const size_t threads = timeline->profile->thread_count;
	if (key != TIMELINE_THREADS) {
		timeline->groups = analyze_label_groups(view, key, error);
		if (!timeline->groups)
			return error->code;
	}
	timeline->row_count = timeline->groups ? timeline->groups->count : threads;
	timeline->hits = calloc(timeline->row_count * timeline->period_count + 1, sizeof(*timeline->hits));
	timeline->marks = calloc(threads + 1, sizeof(*timeline->marks));
	return timeline->hits && timeline->marks ? 0 : ERROR_MEMORY;
}

struct timeline *analyze_timeline(const struct profile *profile, const struct view_options *options, uint32_t key,
				  size_t periods, struct error *error)
{
	if (!options->every_resource && options->resource >= profile->resource_count) {
		error_set(error, ERROR_NOT_FOUND, "the profile has no resource number %u", options->resource);
		return NULL;
	}
	struct transformed *transformed;
	if (transformed_get(profile, options, &transformed, error) < 0)
		return NULL;
	profile = transformed ? transformed_profile(transformed) : profile;
	/* A view without its tree: the selection is all that is needed of it. */
	const struct view view = { .profile = profile, .options = *options };
	struct timeline *timeline = calloc(1, sizeof(*timeline));
	struct selection selection;
	int status = selection_begin(&selection, &view);
	uint32_t *marks = marks_above(profile);
	if (timeline) {
		uint64_t end_ns = options->to_ns ? options->to_ns : profile_duration_ns(profile);
		*timeline = (struct timeline){ .profile = profile,
					       .transformed = transformed,
					       .from_ns = options->from_ns,
					       .to_ns = end_ns > options->from_ns ? end_ns : options->from_ns + 1,
					       .period_count = periods };
	}
	if (!marks || !timeline || status < 0 || make_rows(timeline, &view, key, error) < 0) {
		if (!timeline)
			transformed_drop(transformed);
		timeline_free(timeline);
		selection_end(&selection);
		free(marks);
		error_set(error, ERROR_MEMORY, "out of memory while counting hits over time");
		return NULL;
	}
	count(timeline, &selection, marks);
	selection_end(&selection);
	free(marks);
	return timeline;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	label_group_list_free(timeline->groups);
	free(timeline->hits);
	free(timeline->marks);
	transformed_drop(timeline->transformed);
	free(timeline);
}
