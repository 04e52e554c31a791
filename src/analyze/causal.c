/*
 * Each speed-up is compared with the experiments beside it that have no speed-up. Their rate of progress is the rate that the program
 * would have had without the speed-up; so the changes of the program and of the machine are left out of the result.
 *
 *     expected progress = effective time (without the pauses) x rate of the neighbours
 *     ratio             = sum of the expected progress / sum of the progress, over the experiments of a path and a percentage
 *     gain              = 1 - ratio
 *
 * A path and a percentage form a group. Groups have few experiments, so the scatter of single experiments around the ratio of
 * their group is estimated from all groups together.
 */
#include "analyze/causal.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/statistics.h"

struct group {
	size_t count;
	double expected, progress;
};

struct work {
	const struct experiments *experiments;
	struct group base;    /* `expected` is its time in ns */
	struct group *groups; /* [path_count * EXPERIMENT_LEVELS] */
	double *expected;     /* by experiment */
	double scatter;       /* variance of one experiment's expected progress, relative to the mean of its group */
	double t;             /* Student's quantile for it */
};

static double time_of(const struct experiment *experiment)
{
	return experiment->duration_ns - experiment->delay_ns;
}

/* Returns the group of an experiment, or NULL if the experiment is not valid. */
static struct group *group_of(struct work *work, const struct experiment *experiment)
{
	if (experiment->percent == 0)
		return &work->base;
	if (experiment->path >= work->experiments->path_count || experiment->percent > EXPERIMENT_MOST ||
	    experiment->percent % EXPERIMENT_STEP)
		return NULL;
	return &work->groups[(size_t)experiment->path * EXPERIMENT_LEVELS + experiment->percent / EXPERIMENT_STEP - 1];
}

/* Returns the rate of the experiments without a speed-up next to number `at`: one on each side, and more until they have
 * some progress. Returns 0 if none has. */
static double rate_near(const struct experiments *experiments, size_t at)
{
	double time_ns = 0, progress = 0;
	for (size_t off = 1; off <= experiments->count && progress <= 0; off++) {
		const struct experiment *sides[] = { at >= off ? &experiments->items[at - off] : NULL,
						     off < experiments->count - at ? &experiments->items[at + off]
										   : NULL };
		for (size_t i = 0; i < 2; i++) {
			if (!sides[i] || sides[i]->percent)
				continue;
			time_ns += time_of(sides[i]);
			progress += sides[i]->progress;
		}
	}
	return time_ns > 0 ? progress / time_ns : 0;
}

static void add_up(struct work *work)
{
	for (size_t i = 0; i < work->experiments->count; i++) {
		const struct experiment *experiment = &work->experiments->items[i];
		struct group *group = group_of(work, experiment);
		if (!group)
			continue;
		work->expected[i] = group == &work->base ? time_of(experiment)
							 : time_of(experiment) * rate_near(work->experiments, i);
		group->count++;
		group->expected += work->expected[i];
		group->progress += experiment->progress;
	}
}

static void find_scatter(struct work *work)
{
	static const double tails = 0.05;
	double squares = 0, freedom = 0;
	for (size_t i = 0; i < work->experiments->count; i++) {
		const struct experiment *experiment = &work->experiments->items[i];
		const struct group *group = group_of(work, experiment);
		if (!group || group == &work->base || group->count < 2 || group->progress <= 0 || group->expected <= 0)
			continue;
		double ratio = group->expected / group->progress;
		double off =
			(work->expected[i] - ratio * experiment->progress) / (group->expected / (double)group->count);
		squares += off * off;
		freedom += 1 - 1 / (double)group->count;
	}
	work->scatter = freedom > 0 ? squares / freedom : 0;
	work->t = freedom > 0 ? statistics_student_quantile(tails, freedom) : INFINITY;
}

/* Fits a line through the origin. */
static void fit(const struct work *work, struct causal_curve *curve)
{
	double gains = 0, squares = 0;
	for (size_t i = 0; i < EXPERIMENT_LEVELS; i++) {
		const struct causal_point *point = &curve->points[i];
		double faster = (double)(i + 1) * EXPERIMENT_STEP / EXPERIMENT_MOST;
		double slower = 1 - point->gain; /* the error of a group's period is proportional to it */
		if (point->experiments == 0 || slower <= 0)
			continue;
		double weight = (double)point->experiments / (slower * slower);
		gains += weight * faster * point->gain;
		squares += weight * faster * faster;
	}
	if (squares <= 0)
		return;
	curve->slope = gains / squares;
	curve->slope_error = work->t * sqrt(work->scatter / squares);
}

/* Returns whether the path was ever made faster. */
static bool measure(const struct work *work, size_t path, struct causal_curve *curve)
{
	const struct experiments *experiments = work->experiments;
	bool has_any = false;
	*curve = (struct causal_curve){ .path = experiments->paths[path].name };
	if (experiments->hits)
		curve->share = (double)experiments->paths[path].hits / (double)experiments->hits;
	for (size_t i = 0; i < EXPERIMENT_LEVELS; i++) {
		const struct group *group = &work->groups[path * EXPERIMENT_LEVELS + i];
		if (group->count == 0 || group->progress <= 0 || group->expected <= 0)
			continue;
		double ratio = group->expected / group->progress;
		curve->points[i] = (struct causal_point){
			.gain = 1 - ratio,
			.error = work->t * ratio * sqrt(work->scatter / (double)group->count),
			.experiments = group->count,
		};
		has_any = true;
	}
	fit(work, curve);
	return has_any;
}

static int by_slope(const void *left, const void *right)
{
	const struct causal_curve *a = left, *b = right;
	return (a->slope < b->slope) - (a->slope > b->slope);
}

static int check(const struct work *work, struct error *error)
{
	const struct experiments *experiments = work->experiments;
	double progress = 0;
	for (size_t i = 0; i < experiments->count; i++)
		progress += experiments->items[i].progress;
	if (experiments->count == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "cannot measure speed-ups: the command ended before an experiment was complete (give "
				 "it more work, or "
				 "--runs)");
	if (progress <= 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "cannot measure speed-ups: there was no progress in %zu experiments (choose a point "
				 "or resource that "
				 "the command reaches all the time)",
				 experiments->count);
	if (work->base.count < 2 || work->base.progress <= 0 || isinf(work->t))
		return error_set(
			error, ERROR_NOT_FOUND,
			"cannot measure speed-ups: %zu experiments are too few (give the command more work, or --runs)",
			experiments->count);
	return 0;
}

static int measure_all(struct work *work, struct causal_result *result, struct error *error)
{
	const struct experiments *experiments = work->experiments;
	result->curves = calloc(experiments->path_count + 1, sizeof(result->curves[0]));
	if (!result->curves)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < experiments->path_count; i++)
		result->count += measure(work, i, &result->curves[result->count]);
	qsort(result->curves, result->count, sizeof(result->curves[0]), by_slope);
	result->experiments = experiments->count;
	result->base_experiments = work->base.count;
	result->period_ns = work->base.expected / work->base.progress;
	for (size_t i = 0; i < experiments->count; i++)
		result->visits += experiments->items[i].progress;
	return 0;
}

int causal_analyze(const struct experiments *experiments, struct causal_result *result, struct error *error)
{
	*result = (struct causal_result){ 0 };
	struct work work = { .experiments = experiments,
			     .groups = calloc(experiments->path_count * EXPERIMENT_LEVELS + 1, sizeof(struct group)),
			     .expected = calloc(experiments->count + 1, sizeof(double)) };
	int code = work.groups && work.expected ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
	if (code == 0) {
		add_up(&work);
		find_scatter(&work);
		code = check(&work, error);
	}
	if (code == 0)
		code = measure_all(&work, result, error);
	free(work.groups);
	free(work.expected);
	return code;
}

void causal_result_release(struct causal_result *result)
{
	free(result->curves);
	*result = (struct causal_result){ 0 };
}
