#include "analyze/own_code.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_work.h"
#include "analyze/own_labels.h"
#include "base/array.h"
#include "base/hash_map.h"

/* --- the sums --- */

/* The hits of the samples that are charged to one function and taken in another. `shown`: of those that are shown beside it: in the place of
 * functions of the kernel are the functions that entered it. */
struct pair {
	uint32_t own;   /* label; PROFILE_NONE: no own code */
	uint32_t other; /* label */
	uint64_t hits, shown;
};

struct sums {
	struct pair *pairs;
	size_t count, capacity;
	struct hash_map by_labels;
};

static int add_pair(struct sums *sums, const struct pair *pair)
{
	uint64_t key = (uint64_t)pair->own << 32 | pair->other;
	uint32_t known = hash_map_get(&sums->by_labels, key);
	if (known != HASH_MAP_NONE) {
		sums->pairs[known].hits += pair->hits;
		sums->pairs[known].shown += pair->shown;
		return 0;
	}
	if (ARRAY_RESERVE(sums->pairs, sums->capacity, sums->count + 1) < 0 ||
	    hash_map_put(&sums->by_labels, key, (uint32_t)sums->count) < 0)
		return ERROR_MEMORY;
	sums->pairs[sums->count++] = *pair;
	return 0;
}

static bool is_kernel(const struct view *view, uint32_t label)
{
	uint32_t module = view->labels[label].module;
	return module != PROFILE_NONE && view->profile->modules[module].kind == MODULE_KERNEL;
}

/* The label of own code that each node's hits are charged to, and the label of the library function through which this code came to it.
 * PROFILE_NONE: there is none. */
struct places {
	uint32_t *charged, *called; /* [node_count] */
	uint32_t *used;             /* [node_count]: of kernel_wait_labels */
	bool *is_ready;             /* [node_count]: a thread in the node could run, but lost the processor */
};

/* Whether the kernel gives the processor to another thread in this function, although the present one could go on. */
static bool takes_processor(const struct view *view, uint32_t label)
{
	static const char *const functions[] = {
		"exit_to_user_mode_loop", "exit_to_usermode_loop", "irqentry_exit_to_user_mode",
		"preempt_schedule",       "preempt_schedule_irq",  "preempt_schedule_common",
		"__cond_resched"
	};
	bool takes = false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && is_kernel(view, label); i++)
		takes |= strcmp(view->labels[label].text, functions[i]) == 0;
	return takes;
}

/* Nodes follow their parents. */
static void find_places(struct places *places, const struct view *view, const bool *is_own)
{
	places->charged[0] = places->called[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t label = view->label[node], parent = view->parent[node];
		bool begins = parent != 0 && is_own[view->label[parent]];
		places->charged[node] = is_own[label] ? label : places->charged[parent];
		places->is_ready[node] = (parent != 0 && places->is_ready[parent]) || takes_processor(view, label);
		places->called[node] = is_own[label] ? PROFILE_NONE : begins ? label : places->called[parent];
	}
}

/* Returns the library function through which own code came into the kernel, where the node is in the kernel; or PROFILE_NONE. */
static uint32_t kernel_caller(const struct places *places, const struct view *view, uint32_t node)
{
	uint32_t called = places->called[node];
	bool fits = called != PROFILE_NONE && !is_kernel(view, called) && is_kernel(view, view->label[node]);
	return fits ? called : PROFILE_NONE;
}

static int add_nodes(struct sums *sums, const struct view *view, const struct places *places)
{
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint64_t hits = view->hits[node];
		uint32_t caller = kernel_caller(places, view, node);
		bool is_entered = caller != PROFILE_NONE;
		struct pair pair = { places->charged[node], places->used[node], hits, is_entered ? 0 : hits };
		int status = hits > 0 ? add_pair(sums, &pair) : 0;
		pair = (struct pair){ places->charged[node], caller, 0, hits };
		if (status == 0 && hits > 0 && is_entered)
			status = add_pair(sums, &pair);
		if (status < 0)
			return status;
	}
	return 0;
}

/* Sets the row of the function with the most hits, the first of several equal functions. */
static int find_kernel_call(struct own_code *own, const struct view *view, const struct places *places)
{
	struct own_entry *most = &own->kernel_call;
	uint64_t *hits = calloc(view->label_count + 1, sizeof(*hits));
	if (!hits)
		return ERROR_MEMORY;
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t caller = kernel_caller(places, view, node);
		if (places->is_ready[node])
			own->ready += view->hits[node];
		else if (caller != PROFILE_NONE)
			hits[caller] += view->hits[node];
	}
	*most = (struct own_entry){ .label = PROFILE_NONE, .other = PROFILE_NONE };
	for (uint32_t i = 0; i < view->label_count; i++)
		if (hits[i] > most->hits)
			*most = (struct own_entry){ .label = i, .hits = hits[i], .other = PROFILE_NONE };
	free(hits);
	return 0;
}

/* Adds to the row of `label` the hits that it shares with `other`: a function of the other kind (own or library), or PROFILE_NONE. */
static void add_to_row(struct own_entry *rows, uint32_t label, uint32_t other, uint64_t hits)
{
	struct own_entry *row = &rows[label];
	row->hits += hits;
	bool is_larger = hits > row->other_hits || (hits == row->other_hits && other < row->other);
	if (other != PROFILE_NONE && is_larger) {
		row->other = other;
		row->other_hits = hits;
	}
}

static int compare_entries(const void *left, const void *right)
{
	const struct own_entry *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return (a->label > b->label) - (a->label < b->label);
}

/* Keeps the rows with hits, in their order. Returns their number. */
static size_t select_with_hits(struct own_entry *rows, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].hits > 0)
			rows[kept++] = rows[i];
	qsort(rows, kept, sizeof(*rows), compare_entries);
	return kept;
}

static struct own_entry *new_rows(size_t count)
{
	struct own_entry *rows = calloc(count + 1, sizeof(*rows));
	for (size_t i = 0; i < count && rows; i++)
		rows[i] = (struct own_entry){ .label = (uint32_t)i, .other = PROFILE_NONE };
	return rows;
}

static int fill(struct own_code *own, const struct sums *sums, const struct view *view)
{
	own->charged = new_rows(view->label_count);
	own->library = new_rows(view->label_count);
	if (!own->charged || !own->library)
		return ERROR_MEMORY;
	for (size_t i = 0; i < sums->count; i++) {
		const struct pair *pair = &sums->pairs[i];
		bool in_library = !own->has[pair->other];
		if (pair->own == PROFILE_NONE)
			own->uncharged += pair->hits;
		else if (pair->shown > 0)
			add_to_row(own->charged, pair->own, in_library ? pair->other : PROFILE_NONE, pair->shown);
		if (in_library && pair->hits > 0)
			add_to_row(own->library, pair->other, pair->own, pair->hits);
	}
	own->charged_count = select_with_hits(own->charged, view->label_count);
	own->library_count = select_with_hits(own->library, view->label_count);
	return 0;
}

static int analyze(struct own_code *own, const struct view *view, const struct places *places)
{
	struct sums sums = { 0 };
	hash_map_init(&sums.by_labels);
	int result = add_nodes(&sums, view, places);
	if (result == 0)
		result = fill(own, &sums, view);
	hash_map_release(&sums.by_labels);
	free(sums.pairs);
	return result < 0 ? result : find_kernel_call(own, view, places);
}

struct own_code *analyze_own_code(const struct view *view, struct error *error)
{
	struct own_code *own = calloc(1, sizeof(*own));
	size_t bytes = ((size_t)view->node_count + 1) * sizeof(uint32_t);
	struct places places = { .charged = malloc(bytes),
				 .called = malloc(bytes),
				 .used = kernel_wait_labels(view, error),
				 .is_ready = calloc(view->node_count + (size_t)1, sizeof(bool)) };
	int result = ERROR_MEMORY;
	if (own)
		own->has = own_labels_find(view);
	if (own && own->has && places.charged && places.called && places.used && places.is_ready) {
		find_places(&places, view, own->has);
		result = analyze(own, view, &places);
	}
	free(places.charged);
	free(places.called);
	free(places.used);
	free(places.is_ready);
	if (result == 0)
		return own;
	own_code_free(own);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

void own_code_free(struct own_code *own)
{
	if (!own)
		return;
	free(own->has);
	free(own->charged);
	free(own->library);
	free(own);
}

const struct own_entry *own_code_library(const struct own_code *own, uint32_t label)
{
	for (size_t i = 0; i < own->library_count; i++)
		if (own->library[i].label == label)
			return &own->library[i];
	return NULL;
}
