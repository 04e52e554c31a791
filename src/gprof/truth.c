#include "gprof/truth.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/safe_text.h"

/* A view: its labels become functions, its nodes arcs. */
struct walked {
	const struct view *view;
	uint32_t *function; /* by label */
	uint32_t *arc;      /* by node; TRUTH_NONE: it has no caller */
};

/* A node on the path of the walk. */
struct open_node {
	uint32_t end; /* end of its subtree: the first node behind it */
	uint32_t node;
	uint32_t counted; /* the nearest function with counted calls on its path; TRUTH_NONE: there is none */
};

/* --- functions and arcs --- */

static void add_function(struct truth *truth, const struct view_label *label)
{
	struct truth_function *function = &truth->functions[truth->function_count];
	*function = (struct truth_function){ .name = label->text, .function = label->function };
	truth->names[truth->function_count++] = label->text;
}

static size_t label_count(const struct walked *walked)
{
	return walked->view ? walked->view->label_count : 0;
}

/* Numbers the labels of both views, most of which are in both, in the order of their texts. */
static int number_functions(struct truth *truth, struct walked *times, struct walked *calls)
{
	size_t room = label_count(times) + label_count(calls) + 1;
	truth->functions = calloc(room, sizeof(*truth->functions));
	truth->names = calloc(room, sizeof(*truth->names));
	truth->folded = calloc(room, sizeof(*truth->folded));
	times->function = calloc(room, sizeof(*times->function));
	calls->function = calloc(room, sizeof(*calls->function));
	if (!truth->functions || !truth->names || !truth->folded || !times->function || !calls->function)
		return ERROR_MEMORY;
	size_t i = 0, j = 0;
	while (i < label_count(times) || j < label_count(calls)) {
		int order = i == label_count(times) ? 1
			    : j == label_count(calls)
				    ? -1
				    : strcmp(times->view->labels[i].text, calls->view->labels[j].text);
		uint32_t number = (uint32_t)truth->function_count;
		add_function(truth, order <= 0 ? &times->view->labels[i] : &calls->view->labels[j]);
		if (order <= 0)
			times->function[i++] = number;
		if (order >= 0)
			calls->function[j++] = number;
	}
	return 0;
}

static int64_t add_arc(struct truth *truth, uint32_t parent, uint32_t child)
{
	bool is_new;
	int64_t arc = HASH_MAP_ITEM(&truth->arc_by_ends, (uint64_t)parent << 32 | child, truth->arcs,
				    truth->arc_capacity, truth->arc_count, &is_new);
	if (is_new)
		truth->arcs[arc] = (struct truth_arc){ .parent = parent, .child = child };
	return arc;
}

static uint32_t function_at(const struct walked *walked, uint32_t node)
{
	return walked->function[walked->view->label[node]];
}

static int add_arcs(struct truth *truth, struct walked *walked)
{
	if (!walked->view)
		return 0;
	walked->arc = malloc((walked->view->node_count + 1) * sizeof(*walked->arc));
	if (!walked->arc)
		return ERROR_MEMORY;
	for (uint32_t i = 1; i < walked->view->node_count; i++) {
		uint32_t parent = walked->view->parent[i];
		int64_t arc = TRUTH_NONE;
		if (parent != 0)
			arc = add_arc(truth, function_at(walked, parent), function_at(walked, i));
		if (arc < 0)
			return (int)arc;
		walked->arc[i] = (uint32_t)arc;
	}
	return 0;
}

/* --- figures --- */

static void count_calls(struct truth *truth, const struct walked *calls)
{
	for (uint32_t i = 1; calls->view && i < calls->view->node_count; i++) {
		uint64_t count = calls->view->hits[i];
		truth->functions[function_at(calls, i)].calls += count;
		truth->all_calls += count;
		if (calls->arc[i] != TRUTH_NONE)
			truth->arcs[calls->arc[i]].calls += count;
	}
}

/* During the walk: how often each function and arc is on the path. */
struct descent {
	struct truth *truth;
	const struct walked *walked;
	uint32_t *functions, *arcs;
	struct open_node *open;
	size_t depth;
};

static void leave(struct descent *descent)
{
	uint32_t node = descent->open[--descent->depth].node;
	uint32_t arc = descent->walked->arc[node];
	descent->functions[function_at(descent->walked, node)]--;
	if (arc != TRUTH_NONE)
		descent->arcs[arc]--;
}

/* Returns the nearest function with counted calls on the path that the function continues. */
static uint32_t counted_function(const struct descent *descent, uint32_t function)
{
	if (descent->truth->functions[function].calls > 0)
		return function;
	return descent->depth > 0 ? descent->open[descent->depth - 1].counted : TRUTH_NONE;
}

static void enter(struct descent *descent, uint32_t node)
{
	const struct view *view = descent->walked->view;
	uint32_t function = function_at(descent->walked, node), arc = descent->walked->arc[node];
	double own = (double)view->hits[node], all = (double)view->weight[node];
	struct truth_function *figures = &descent->truth->functions[function];
	uint32_t counted = counted_function(descent, function);
	descent->open[descent->depth++] =
		(struct open_node){ .end = view->end[node], .node = node, .counted = counted };
	figures->self += own;
	figures->below += (descent->functions[function]++ == 0 ? all : 0) - own;
	if (own > 0)
		descent->truth->folded[counted == TRUTH_NONE ? function : counted] += own;
	if (arc == TRUTH_NONE)
		return;
	descent->truth->arcs[arc].self += own;
	descent->truth->arcs[arc].below += (descent->arcs[arc]++ == 0 ? all : 0) - own;
}

/* The weight of a subtree counts at the outermost node of a function or arc only, so that each sample counts once. */
static int add_times(struct truth *truth, const struct walked *times)
{
	struct descent descent = {
		.truth = truth,
		.walked = times,
		.functions = calloc(truth->function_count + 1, sizeof(*descent.functions)),
		.arcs = calloc(truth->arc_count + 1, sizeof(*descent.arcs)),
		.open = malloc((times->view->depth + 1) * sizeof(*descent.open)),
	};
	int code = descent.functions && descent.arcs && descent.open ? 0 : ERROR_MEMORY;
	for (uint32_t i = 1; code == 0 && i < times->view->node_count; i++) {
		while (descent.depth > 0 && descent.open[descent.depth - 1].end <= i)
			leave(&descent);
		enter(&descent, i);
	}
	free(descent.functions);
	free(descent.arcs);
	free(descent.open);
	return code;
}

static int add_figures(struct truth *truth)
{
	struct walked times = { .view = truth->times }, calls = { .view = truth->calls };
	int code = number_functions(truth, &times, &calls);
	if (code == 0)
		code = add_arcs(truth, &times);
	if (code == 0)
		code = add_arcs(truth, &calls);
	if (code == 0)
		count_calls(truth, &calls);
	if (code == 0)
		code = add_times(truth, &times);
	free(times.function);
	free(times.arc);
	free(calls.function);
	free(calls.arc);
	return code;
}

/* --- life cycle --- */

static int open_views(struct truth *truth, const struct view_options *chosen, struct error *error)
{
	struct view_options options = *chosen;
	options.by = VIEW_FUNCTION;
	options.no_stitch = true;
	truth->times = view_new(truth->profile, &options, error);
	if (!truth->times)
		return ERROR_MEMORY;
	uint32_t calls = profile_find_resource(truth->profile, "calls");
	if (calls == PROFILE_NONE || resource_has_samples(&truth->profile->resources[calls]))
		return 0;
	options.resource = calls;
	truth->calls = view_new(truth->profile, &options, error);
	return truth->calls ? 0 : ERROR_MEMORY;
}

static void describe(struct truth *truth)
{
	static const double SECOND_NS = 1e9;
	const struct profile_resource *resource = truth->times->resource;
	double interval = resource->interval ? (double)resource->interval : 1;
	truth->unit = safe_word(profile_string(truth->profile, resource->unit), "gtick");
	truth->is_time = strcmp(truth->unit, "ns") == 0;
	truth->rate = truth->is_time ? SECOND_NS / interval : 1 / interval;
	truth->is_exact = !resource_has_samples(resource);
	truth->total = (double)truth->times->total;
	truth->independent = truth->times->independent;
}

int truth_init(struct truth *truth, const struct profile *profile, const struct view_options *options,
	       struct error *error)
{
	struct error why = { 0 };
	*truth = (struct truth){ .profile = profile };
	hash_map_init(&truth->arc_by_ends);
	int code = open_views(truth, options, &why);
	if (code == 0) {
		describe(truth);
		code = add_figures(truth);
	}
	if (code < 0) {
		truth_release(truth);
		return error_set(error, why.code ? why.code : code, "%s", why.code ? why.message : error_text(code));
	}
	return 0;
}

void truth_release(struct truth *truth)
{
	view_free(truth->times);
	view_free(truth->calls);
	free(truth->functions);
	free(truth->arcs);
	free((void *)truth->names);
	free(truth->folded);
	hash_map_release(&truth->arc_by_ends);
	*truth = (struct truth){ 0 };
}

/* --- the resource that is a time --- */

bool truth_is_time(const struct profile *profile, uint32_t resource)
{
	return strcmp(profile_string(profile, profile->resources[resource].unit), "ns") == 0 &&
	       profile->resources[resource].interval > 0;
}

uint32_t truth_resource(const struct profile *profile)
{
	uint32_t best = PROFILE_NONE;
	int best_rank = 0;
	bool *has_hits = calloc(profile->resource_count + 1, sizeof(*has_hits));
	for (size_t i = 0; has_hits && i < profile->hit_count; i++)
		has_hits[profile->hits[i].resource] = true;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		if (!truth_is_time(profile, i))
			continue;
		bool is_cpu = strcmp(profile_string(profile, profile->resources[i].name), "cpu") == 0;
		int rank =
			1 + resource_has_samples(&profile->resources[i]) + is_cpu + (has_hits && has_hits[i] ? 4 : 0);
		if (rank > best_rank) {
			best_rank = rank;
			best = i;
		}
	}
	free(has_hits);
	return best;
}
