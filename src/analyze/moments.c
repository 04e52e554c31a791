#include "analyze/moments.h"

#include <stdlib.h>

#include "analyze/build.h"
#include "base/array.h"
#include "base/time_unit.h"

struct sample {
	uint64_t time_ns; /* since the start of the recording */
	uint64_t hits;
	uint32_t node; /* of the view */
};

/* The state while moments are made. */
struct making {
	const struct view *view;
	struct sample *samples; /* owned; by time */
	size_t count, capacity;
	double hit_ns;     /* that a hit stands for; 0: the resource is no time */
	uint64_t slack_ns; /* a shorter gap before a sample belongs to it */
	uint64_t period_ns;
};

static int by_time(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static int by_node(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;
	return (a->node > b->node) - (a->node < b->node);
}

static int add_sample(struct making *making, const struct profile_hit *hit)
{
	const struct view *view = making->view;
	uint32_t node = view->view_node[hit->node];
	if (ARRAY_RESERVE(making->samples, making->capacity, making->count + 1) < 0)
		return ERROR_MEMORY;
	making->samples[making->count++] = (struct sample){ .time_ns = hit->time_ns - view->profile->start_ns,
							    .hits = hit->count,
							    .node = node == PROFILE_NONE ? 0 : node };
	return 0;
}

/* Collects the samples of the selection that have a time. */
static int collect(struct making *making)
{
	const struct profile *profile = making->view->profile;
	struct selection selection;
	struct profile_hit taken;
	int status = selection_begin(&selection, making->view);
	for (size_t i = 0; i < profile->hit_count && status == 0; i++)
		if (profile->hits[i].resource == making->view->options.resource &&
		    profile->hits[i].time_ns >= profile->start_ns && selection_part(&selection, i, &taken))
			status = add_sample(making, &taken);
	selection_end(&selection);
	if (making->count > 0)
		qsort(making->samples, making->count, sizeof(*making->samples), by_time);
	return status;
}

/* Finds how long a sample lasts. */
static void measure(struct making *making)
{
	const struct view *view = making->view;
	const uint64_t unit_ns = time_unit_ns(profile_string(view->profile, view->resource->unit));
	size_t times = making->count > 0;
	for (size_t i = 1; i < making->count; i++)
		times += making->samples[i].time_ns > making->samples[i - 1].time_ns;
	if (unit_ns > 0) {
		making->hit_ns = (double)view->resource->interval * (double)unit_ns;
		making->slack_ns = making->hit_ns < (double)UINT32_MAX ? (uint64_t)making->hit_ns : UINT32_MAX;
	} else if (times > 1) {
		making->slack_ns =
			(making->samples[making->count - 1].time_ns - making->samples[0].time_ns) / (times - 1);
	}
}

/* Returns the begin of what `hits` at a time stand for, after `before_ns`, at which the moment before ended. */
static uint64_t begin_of(const struct making *making, uint64_t time_ns, uint64_t hits, uint64_t before_ns)
{
	const double own_ns = making->hit_ns > 0 ? making->hit_ns * (double)hits : (double)making->slack_ns;
	uint64_t begin_ns = own_ns < (double)time_ns ? time_ns - (uint64_t)own_ns : 0;
	if (making->period_ns > 0)
		begin_ns = time_ns > making->period_ns / 2 ? time_ns - making->period_ns / 2 : 0;
	return begin_ns < before_ns || (before_ns > 0 && begin_ns - before_ns < making->slack_ns) ? before_ns
												  : begin_ns;
}

/* Returns the node in whose subtree more than half of the hits are, as deep as possible. Nodes are in the order in which a walk of the tree
 * reaches them, so the subtree of such a node contains the node of the hit in the middle. */
static uint32_t shared_node(const struct view *view, struct sample *samples, size_t count, uint64_t total)
{
	if (count > 1)
		qsort(samples, count, sizeof(*samples), by_node);
	size_t first = 0;
	for (uint64_t so_far = samples[0].hits; 2 * so_far <= total; so_far += samples[++first].hits)
		;
	uint32_t node = samples[first].node;
	uint64_t hits = samples[first].hits;
	for (size_t end = first + 1;; node = view->parent[node]) {
		while (first > 0 && samples[first - 1].node >= node)
			hits += samples[--first].hits;
		while (end < count && samples[end].node < view->end[node])
			hits += samples[end++].hits;
		if (2 * hits > total || node == 0)
			return node;
	}
}

/* Returns the end of the samples from `first` on that belong to one moment. */
static size_t end_of_moment(const struct making *making, size_t first, uint64_t detail_ns)
{
	const struct sample *samples = making->samples;
	size_t end = first + 1;
	while (end < making->count &&
	       (detail_ns > 0 ? samples[end].time_ns / detail_ns == samples[first].time_ns / detail_ns
			      : samples[end].time_ns == samples[first].time_ns))
		end++;
	return end;
}

static void make(struct making *making, uint64_t detail_ns, struct moments *moments)
{
	uint64_t before_ns = making->view->options.from_ns;
	for (size_t first = 0, end; first < making->count; first = end) {
		struct sample *samples = making->samples + first;
		uint64_t total = 0, at_first = 0;
		end = end_of_moment(making, first, detail_ns);
		for (size_t i = 0; i < end - first; i++) {
			total += samples[i].hits;
			at_first += samples[i].time_ns == samples[0].time_ns ? samples[i].hits : 0;
		}
		const uint64_t last_ns = samples[end - first - 1].time_ns;
		struct moment *moment = &moments->items[moments->count++];
		*moment = (struct moment){ .from_ns = begin_of(making, samples[0].time_ns, at_first, before_ns),
					   .to_ns = last_ns + (making->period_ns - making->period_ns / 2),
					   .sampled_ns = last_ns };
		moment->node = shared_node(making->view, samples, end - first, total);
		before_ns = moment->to_ns;
	}
}

struct moments *analyze_moments(const struct view *view, uint64_t period_ns, uint64_t detail_ns, struct error *error)
{
	struct making making = { .view = view, .period_ns = period_ns };
	struct moments *moments = calloc(1, sizeof(*moments));
	int status = moments ? collect(&making) : ERROR_MEMORY;
	if (status == 0) {
		moments->items = malloc((making.count + 1) * sizeof(*moments->items));
		status = moments->items ? 0 : ERROR_MEMORY;
	}
	if (status == 0) {
		measure(&making);
		make(&making, detail_ns, moments);
	}
	free(making.samples);
	if (status == 0)
		return moments;
	moments_free(moments);
	error_set(error, status, "out of memory while ordering samples");
	return NULL;
}

void moments_free(struct moments *moments)
{
	if (!moments)
		return;
	free(moments->items);
	free(moments);
}
