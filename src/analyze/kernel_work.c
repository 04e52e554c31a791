#include "analyze/kernel_work.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/module_name.h"

/* The use of one function of the kernel for one function that entered it; first of one node, then of all of them. */
struct use {
	uint32_t entered, label;
	uint32_t depth; /* the largest number of frames from the entry to it */
	uint64_t hits;
};

struct gathering {
	const struct view *view;
	bool has_waits;
	bool *is_kernel; /* per label */
	uint32_t
		*entered; /* per node in the kernel: the node that entered it; then, per node: frames since the entry */
	struct use *uses;
	size_t count;
};

static bool *kernel_labels(const struct view *view)
{
	bool *is_kernel = calloc(view->label_count + 1, sizeof(*is_kernel));
	for (size_t i = 0; is_kernel && i < view->label_count; i++) {
		uint32_t module = view->labels[i].module;
		is_kernel[i] = module != PROFILE_NONE && module_is_kernel_code(view->profile, module);
	}
	return is_kernel;
}

/* Returns whether a function only passes the processor on: schedule, io_schedule_timeout, ... Each wait ends in these. */
static bool is_scheduler(const struct view *view, uint32_t label)
{
	return strstr(view->labels[label].text, "schedule");
}

bool kernel_work_has_waits(const struct view *view)
{
	static const char *const resources[] = { "real",    "blocked",          "lock-wait",
						 "io-time", "context-switches", "tracepoint:sched:sched_switch" };
	const char *name = profile_string(view->profile, view->resource->name);
	bool has = false;
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		has |= strcmp(name, resources[i]) == 0;
	return has;
}

static bool is_in_kernel(const struct gathering *gathering, uint32_t node)
{
	return node != 0 && gathering->is_kernel[gathering->view->label[node]];
}

/* Sets the node that entered the kernel, of each node in it. Nodes follow their parents. */
static void find_entries(struct gathering *gathering)
{
	const struct view *view = gathering->view;
	for (uint32_t i = 1; i < view->node_count; i++) {
		uint32_t parent = view->parent[i];
		if (is_in_kernel(gathering, i))
			gathering->entered[i] = is_in_kernel(gathering, parent) ? gathering->entered[parent] : parent;
	}
}

/* Returns whether the hits of a node are a wait for the function that entered the kernel. */
static bool is_wait(const struct gathering *gathering, uint32_t node)
{
	return gathering->has_waits && is_in_kernel(gathering, node) && gathering->entered[node] != 0 &&
	       is_scheduler(gathering->view, gathering->view->label[node]);
}

/* Returns whether a function is active on the path above this node already, since the entry. */
static bool is_recursion(const struct gathering *gathering, uint32_t node)
{
	const struct view *view = gathering->view;
	for (uint32_t at = view->parent[node]; is_in_kernel(gathering, at); at = view->parent[at])
		if (view->label[at] == view->label[node])
			return true;
	return false;
}

static void gather(struct gathering *gathering)
{
	const struct view *view = gathering->view;
	uint32_t *depth = gathering->entered + view->node_count;
	for (uint32_t i = 1; i < view->node_count; i++) {
		uint32_t parent = view->parent[i];
		if (!is_in_kernel(gathering, i))
			continue;
		depth[i] = is_in_kernel(gathering, parent) ? depth[parent] + 1 : 1;
		if (is_recursion(gathering, i))
			continue;
		uint32_t by = gathering->entered[i];
		gathering->uses[gathering->count++] = (struct use){ .entered = by ? view->label[by] : PROFILE_NONE,
								    .label = view->label[i],
								    .depth = depth[i],
								    .hits = view->weight[i] };
	}
}

static int by_functions(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	if (a->entered != b->entered)
		return a->entered < b->entered ? -1 : 1;
	return a->label < b->label ? -1 : a->label > b->label;
}

/* Adds up the uses of equal functions. */
static void merge(struct gathering *gathering)
{
	struct use *uses = gathering->uses;
	size_t count = 0;
	qsort(uses, gathering->count, sizeof(*uses), by_functions);
	for (size_t i = 0; i < gathering->count; i++) {
		if (count == 0 || by_functions(&uses[count - 1], &uses[i]) != 0) {
			uses[count++] = uses[i];
			continue;
		}
		uses[count - 1].hits += uses[i].hits;
		if (uses[i].depth > uses[count - 1].depth)
			uses[count - 1].depth = uses[i].depth;
	}
	gathering->count = count;
}

/* Returns the row of a function that entered the kernel. While rows are filled in, there is one for each label, and one for PROFILE_NONE. */
static struct kernel_entry *row_of(struct kernel_work *work, const struct view *view, uint32_t label)
{
	return &work->entries[label == PROFILE_NONE ? view->label_count : label];
}

/* Adds up the own hits of the kernel's nodes. */
static void add_hits(struct kernel_work *work, const struct gathering *gathering)
{
	const struct view *view = gathering->view;
	for (uint32_t i = 1; i < view->node_count; i++) {
		if (!is_in_kernel(gathering, i))
			continue;
		uint32_t by = gathering->entered[i];
		row_of(work, view, by ? view->label[by] : PROFILE_NONE)->hits += view->hits[i];
		work->hits += view->hits[i];
		work->waits += is_wait(gathering, i) ? view->hits[i] : 0;
	}
}

/* Among the functions with at least half of the hits, the innermost function has the fewest hits. */
static void choose_work(struct kernel_work *work, const struct gathering *gathering)
{
	uint32_t depth = 0; /* of the function that is chosen so far */
	for (size_t i = 0; i < gathering->count; i++) {
		const struct use *use = &gathering->uses[i];
		struct kernel_entry *row = row_of(work, gathering->view, use->entered);
		if (use->hits < row->hits - use->hits || is_scheduler(gathering->view, use->label))
			continue;
		bool is_first = row->work == PROFILE_NONE;
		bool is_inner = use->hits < row->work_hits || (use->hits == row->work_hits && use->depth > depth);
		if (!is_first && !is_inner)
			continue;
		row->work = use->label;
		row->work_hits = use->hits;
		depth = use->depth;
	}
}

static int compare_entries(const void *left, const void *right)
{
	const struct kernel_entry *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return (a->label > b->label) - (a->label < b->label);
}

static void fill(struct kernel_work *work, struct gathering *gathering)
{
	const struct view *view = gathering->view;
	for (uint32_t i = 0; i <= view->label_count; i++)
		work->entries[i] = (struct kernel_entry){ .label = i < view->label_count ? i : PROFILE_NONE,
							  .work = PROFILE_NONE };
	find_entries(gathering);
	gather(gathering);
	merge(gathering);
	add_hits(work, gathering);
	choose_work(work, gathering);
	for (size_t i = 0; i <= view->label_count; i++)
		if (work->entries[i].hits > 0 && (i < view->label_count || work->entries[i].work != PROFILE_NONE))
			work->entries[work->count++] = work->entries[i];
	qsort(work->entries, work->count, sizeof(*work->entries), compare_entries);
}

struct kernel_work *analyze_kernel_work(const struct view *view, struct error *error)
{
	struct kernel_work *work = calloc(1, sizeof(*work));
	struct gathering gathering = {
		.view = view,
		.has_waits = kernel_work_has_waits(view),
		.is_kernel = kernel_labels(view),
		.entered = calloc(2 * view->node_count, sizeof(*gathering.entered)),
		.uses = malloc(view->node_count * sizeof(*gathering.uses)),
	};
	if (work)
		work->entries = calloc(view->label_count + 1, sizeof(*work->entries));
	bool has_room = work && work->entries && gathering.is_kernel && gathering.entered && gathering.uses;
	if (has_room)
		fill(work, &gathering);
	free(gathering.is_kernel);
	free(gathering.entered);
	free(gathering.uses);
	if (has_room)
		return work;
	kernel_work_free(work);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

uint32_t *kernel_wait_labels(const struct view *view, struct error *error)
{
	struct gathering gathering = {
		.view = view,
		.has_waits = kernel_work_has_waits(view),
		.is_kernel = kernel_labels(view),
		.entered = calloc(view->node_count, sizeof(*gathering.entered)),
	};
	uint32_t *labels = malloc(view->node_count * sizeof(*labels));
	if (labels && gathering.is_kernel && gathering.entered) {
		find_entries(&gathering);
		for (uint32_t i = 0; i < view->node_count; i++)
			labels[i] = view->label[is_wait(&gathering, i) ? gathering.entered[i] : i];
	} else {
		free(labels);
		labels = NULL;
		error_set(error, ERROR_MEMORY, "out of memory");
	}
	free(gathering.is_kernel);
	free(gathering.entered);
	return labels;
}

void kernel_work_free(struct kernel_work *work)
{
	if (!work)
		return;
	free(work->entries);
	free(work);
}
