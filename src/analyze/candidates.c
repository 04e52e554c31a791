/*
 * The mixes of functions, in one pass over the tree by line:
 *
 *     each@12 -> fold@30 -> op_xor        context (digest each fold): mix {(30, op_xor): 9, (28, itself): 1}
 *                                         function fold, all contexts: mix {(30, op_xor): 9, (30, op_add): 9, ...}
 *
 * A context is a folded path of functions. A sample counts once in each of its contexts, with the innermost of its frames
 * there: a recursive function's own calls would hide what it calls in the end.
 */
#include "analyze/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/key_index.h"
#include "analyze/own_labels.h"
#include "base/array.h"
#include "base/hash_map.h"
#include "base/path.h"

struct context {
	uint32_t parent, function; /* parent PROFILE_NONE: the outermost function */
	uint32_t label;            /* one of the function's labels */
	uint64_t hits;
	uint32_t top; /* index in `above` of the innermost node above the current one that is in it, or PROFILE_NONE */
};

struct mix_entry {
	uint32_t context, line, callee; /* callee PROFILE_NONE: the function itself */
	uint64_t hits;
};

struct mixing {
	const struct view *view;
	struct hash_map functions; /* label.owner -> number */
	uint32_t function_count;
	uint32_t *function_of; /* [label_count] */
	uint32_t *label_of;    /* [function_count]: one of its labels; has room for label_count */
	bool *is_own;          /* [label_count] */
	struct context *contexts;
	size_t context_count, context_capacity;
	struct key_index by_context; /* parent, function */
	struct mix_entry *entries;
	size_t entry_count, entry_capacity;
	struct key_index by_entry; /* context, line, callee */
	uint32_t *context_of;      /* [node_count] */
	uint64_t *function_hits;   /* [function_count]: over all contexts */
	uint32_t *contexts_of;     /* [function_count]: number of contexts with hits */
	struct key_index by_total; /* function, line, callee */
	uint64_t *totals;
	size_t total_count, total_capacity;
};

/* --- contexts --- */

static int number_functions(struct mixing *mixing)
{
	const struct view *view = mixing->view;
	for (size_t i = 0; i < view->label_count; i++) {
		uint64_t key = (uint64_t)(uintptr_t)view->labels[i].owner;
		uint32_t number = hash_map_get(&mixing->functions, key);
		if (number == HASH_MAP_NONE) {
			number = mixing->function_count++;
			if (hash_map_put(&mixing->functions, key, number) < 0)
				return ERROR_MEMORY;
		}
		mixing->function_of[i] = number;
		mixing->label_of[number] = (uint32_t)i;
	}
	return 0;
}

/* Returns the context of a function that is called in a context: an earlier one if the function is on the path already. */
static int64_t enter(struct mixing *mixing, uint32_t parent, uint32_t label)
{
	uint32_t function = mixing->function_of[label];
	for (uint32_t at = parent; at != PROFILE_NONE; at = mixing->contexts[at].parent)
		if (mixing->contexts[at].function == function)
			return at;
	const struct key_index_key key = { .a = parent, .b = function };
	int64_t known = key_index_add(&mixing->by_context, &key, mixing->context_count);
	if (known < (int64_t)mixing->context_count)
		return known;
	if (ARRAY_RESERVE(mixing->contexts, mixing->context_capacity, mixing->context_count + 1) < 0)
		return ERROR_MEMORY;
	mixing->contexts[mixing->context_count] =
		(struct context){ .parent = parent, .function = function, .label = label, .top = PROFILE_NONE };
	return (int64_t)mixing->context_count++;
}

static int add_hits(struct mixing *mixing, uint32_t context, uint32_t line, uint32_t callee, uint64_t hits)
{
	const struct key_index_key key = { context, line, callee, 0 };
	int64_t entry = key_index_add(&mixing->by_entry, &key, mixing->entry_count);
	if (entry < 0)
		return (int)entry;
	if (entry == (int64_t)mixing->entry_count) {
		if (ARRAY_RESERVE(mixing->entries, mixing->entry_capacity, mixing->entry_count + 1) < 0)
			return ERROR_MEMORY;
		mixing->entries[mixing->entry_count++] = (struct mix_entry){ context, line, callee, 0 };
	}
	mixing->entries[entry].hits += hits;
	return 0;
}

/* Adds a node's hits to its context's mix: its own hits, and the hits below each child. */
static int count_node(struct mixing *mixing, uint32_t node)
{
	const struct view *view = mixing->view;
	uint32_t context = mixing->context_of[node], label = view->label[node];
	int code = view->hits[node] > 0 ? add_hits(mixing, context, label, PROFILE_NONE, view->hits[node]) : 0;
	for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1] && code == 0; i++) {
		uint32_t child = view->child[i];
		if (view->weight[child] > 0)
			code = add_hits(mixing, context, label, mixing->function_of[view->label[child]],
					view->weight[child]);
	}
	return code;
}

/* Takes a node's hits from the innermost node above it of the same context: from its call on the way to the node. */
static int move_hits(struct mixing *mixing, uint32_t outer, uint32_t called, uint32_t node)
{
	const struct view *view = mixing->view;
	return add_hits(mixing, mixing->context_of[node], view->label[outer], mixing->function_of[view->label[called]],
			-view->weight[node]);
}

/* Enters a node at above[depth]. */
static int enter_node(struct mixing *mixing, uint32_t *above, uint32_t *outer_top, size_t depth, uint32_t node)
{
	const struct view *view = mixing->view;
	int64_t context = enter(mixing, mixing->context_of[view->parent[node]], view->label[node]);
	if (context < 0)
		return (int)context;
	mixing->context_of[node] = (uint32_t)context;
	above[depth] = node;
	uint32_t top = outer_top[depth] = mixing->contexts[context].top;
	mixing->contexts[context].top = (uint32_t)depth;
	int code = count_node(mixing, node);
	if (top == PROFILE_NONE)
		mixing->contexts[context].hits += view->weight[node];
	else if (code == 0)
		code = move_hits(mixing, above[top], above[top + 1], node);
	return code;
}

static int walk(struct mixing *mixing)
{
	const struct view *view = mixing->view;
	uint32_t *above = malloc((view->depth + 1) * sizeof(*above));
	uint32_t *outer_top = malloc((view->depth + 1) * sizeof(*outer_top)); /* the `top` that each node replaced */
	size_t depth = 0;
	int code = above && outer_top ? 0 : ERROR_MEMORY;
	mixing->context_of[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < view->node_count && code == 0; node++) {
		while (depth > 0 && view->end[above[depth - 1]] <= node) {
			depth--;
			mixing->contexts[mixing->context_of[above[depth]]].top = outer_top[depth];
		}
		if (view->weight[node] > 0)
			code = enter_node(mixing, above, outer_top, depth++, node);
		else
			mixing->context_of[node] = mixing->context_of[view->parent[node]];
	}
	free(above);
	free(outer_top);
	return code;
}

/* --- totals of functions --- */

static int64_t total_of(struct mixing *mixing, const struct mix_entry *entry)
{
	const struct key_index_key key = { mixing->contexts[entry->context].function, entry->line, entry->callee, 0 };
	return key_index_add(&mixing->by_total, &key, mixing->total_count);
}

static int add_totals(struct mixing *mixing)
{
	mixing->function_hits = calloc(mixing->function_count + 1, sizeof(*mixing->function_hits));
	mixing->contexts_of = calloc(mixing->function_count + 1, sizeof(*mixing->contexts_of));
	if (!mixing->function_hits || !mixing->contexts_of)
		return ERROR_MEMORY;
	for (size_t i = 0; i < mixing->entry_count; i++) {
		int64_t total = total_of(mixing, &mixing->entries[i]);
		if (total < 0)
			return (int)total;
		if (total == (int64_t)mixing->total_count) {
			if (ARRAY_RESERVE(mixing->totals, mixing->total_capacity, mixing->total_count + 1) < 0)
				return ERROR_MEMORY;
			mixing->totals[mixing->total_count++] = 0;
		}
		mixing->totals[total] += mixing->entries[i].hits;
	}
	for (size_t i = 0; i < mixing->context_count; i++) {
		const struct context *context = &mixing->contexts[i];
		mixing->function_hits[context->function] += context->hits;
		mixing->contexts_of[context->function] += context->hits > 0;
	}
	return 0;
}

/* --- divergence --- */

/* Returns the Kullback-Leibler divergence of a context's mix [first, end) from its function's, in bits, less what chance
 * adds to it (Miller and Madow); 0 if chance explains all of it: its likelihood ratio is within two standard deviations
 * of the chi-square distribution. Sets *most to the entry that adds most,
 * among calls if one of them adds anything: a copy can change what is called. */
static double divergence(struct mixing *mixing, size_t first, size_t end, size_t *most)
{
	const struct context *context = &mixing->contexts[mixing->entries[first].context];
	const struct view *view = mixing->view;
	double all = (double)mixing->function_hits[context->function], hits = (double)context->hits, sum = 0,
	       largest = -INFINITY;
	size_t used = 0;
	bool calls = false; /* a call adds to it */
	for (size_t i = first; i < end; i++) {
		if (mixing->entries[i].hits == 0)
			continue; /* all were moved to frames further in */
		used++;
		double share = (double)mixing->entries[i].hits / hits;
		double of_all = (double)mixing->totals[total_of(mixing, &mixing->entries[i])] / all;
		bool is_call = mixing->entries[i].callee != PROFILE_NONE;
		double part = share * log2(share / of_all);
		sum += part;
		if (is_call && part > 0 && !calls) {
			calls = true;
			largest = 0;
		}
		if (part > largest && (is_call || !calls)) {
			largest = part;
			*most = i;
		}
	}
	double samples = view->independent > 0 ? hits * view->independent / (double)view->total : 0;
	if (samples == 0)
		return sum; /* exact */
	double freedom = (double)used - 1, unit = 1 / (2 * samples * M_LN2);
	return sum > (freedom + 2 * sqrt(2 * freedom)) * unit ? sum - freedom * unit : 0;
}

static struct candidate_difference difference_of(struct mixing *mixing, const struct mix_entry *entry)
{
	const struct context *context = &mixing->contexts[entry->context];
	double own = (double)entry->hits, hits = (double)context->hits;
	double all = (double)mixing->totals[total_of(mixing, entry)];
	double rest = (double)mixing->function_hits[context->function] - hits;
	return (struct candidate_difference){ .line = entry->line,
					      .callee = entry->callee == PROFILE_NONE ? PROFILE_NONE
										      : mixing->label_of[entry->callee],
					      .here = own / hits,
					      .elsewhere = rest > 0 ? (all - own) / rest : 0 };
}

/* --- the path --- */

/* Returns whether the path of a context ends with the last `length` functions of another one. */
static bool ends_with(const struct mixing *mixing, uint32_t at, uint32_t path, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (at == PROFILE_NONE || mixing->contexts[at].function != mixing->contexts[path].function)
			return false;
		at = mixing->contexts[at].parent;
		path = mixing->contexts[path].parent;
	}
	return true;
}

/* Returns the shortest end of a context's path, of at least two functions, that no other context with hits has. */
static size_t shortest(const struct mixing *mixing, uint32_t context, size_t full)
{
	for (size_t length = 2; length < full; length++) {
		bool is_unique = true;
		for (size_t i = 0; i < mixing->context_count && is_unique; i++)
			is_unique = i == context || mixing->contexts[i].hits == 0 ||
				    !ends_with(mixing, (uint32_t)i, context, length);
		if (is_unique)
			return length;
	}
	return full;
}

/* Returns the context up to the outermost function of library code (own_labels.h): only calls in own code can be changed. */
static uint32_t editable(const struct mixing *mixing, uint32_t context)
{
	uint32_t found = context;
	for (uint32_t at = context; at != PROFILE_NONE; at = mixing->contexts[at].parent)
		if (!mixing->is_own[mixing->contexts[at].label])
			found = at;
	return found;
}

/* Returns whether the list has the path of a context; a smaller score is raised. */
static bool is_listed(const struct candidate_list *list, uint32_t context, double score, double bits,
		      const struct candidate_difference *difference)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].context != context)
			continue;
		if (list->items[i].score < score) {
			list->items[i].score = score;
			list->items[i].divergence = bits;
			list->items[i].difference = *difference;
		}
		return true;
	}
	return false;
}

static int add_candidate(struct mixing *mixing, const struct mix_entry *most, double bits, struct candidate_list *list)
{
	uint32_t context = most->context;
	struct candidate_difference difference = difference_of(mixing, most);
	double total = (double)mixing->view->total;
	double score = bits * (double)mixing->contexts[context].hits / total;
	context = editable(mixing, context);
	const struct context *row = &mixing->contexts[context];
	size_t full = 0;
	for (uint32_t at = context; at != PROFILE_NONE; at = mixing->contexts[at].parent)
		full++;
	if (full < 2 || is_listed(list, context, score, bits, &difference))
		return 0;
	size_t length = shortest(mixing, context, full);
	uint32_t *path = malloc(length * sizeof(*path));
	if (!path)
		return ERROR_MEMORY;
	uint32_t at = context;
	for (size_t i = length; i-- > 0; at = mixing->contexts[at].parent)
		path[i] = mixing->contexts[at].label;
	list->items[list->count++] = (struct candidate){ .path = path,
							 .length = length,
							 .context = context,
							 .hits = row->hits,
							 .divergence = bits,
							 .score = score,
							 .difference = difference,
							 .bound = 1 - (double)row->hits / total };
	return 0;
}

static int by_score(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	for (size_t i = 0; i < a->length && i < b->length; i++)
		if (a->path[i] != b->path[i])
			return a->path[i] < b->path[i] ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

static int by_context(const void *left, const void *right)
{
	const struct mix_entry *a = left, *b = right;
	return (a->context > b->context) - (a->context < b->context);
}

static int choose(struct mixing *mixing, double threshold, struct candidate_list *list)
{
	if (mixing->entry_count > 0)
		qsort(mixing->entries, mixing->entry_count, sizeof(*mixing->entries), by_context);
	list->items = calloc(mixing->context_count + 1, sizeof(*list->items));
	int code = list->items ? 0 : ERROR_MEMORY;
	for (size_t first = 0, end; first < mixing->entry_count && code == 0; first = end) {
		uint32_t context = mixing->entries[first].context;
		for (end = first; end < mixing->entry_count && mixing->entries[end].context == context;)
			end++;
		const struct context *row = &mixing->contexts[context];
		if ((double)row->hits < threshold * (double)mixing->view->total ||
		    mixing->contexts_of[row->function] < 2)
			continue;
		size_t most = first;
		double bits = divergence(mixing, first, end, &most);
		if (bits > 0)
			code = add_candidate(mixing, &mixing->entries[most], bits, list);
	}
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), by_score);
	return code;
}

/* --- the whole --- */

static void mixing_release(struct mixing *mixing)
{
	hash_map_release(&mixing->functions);
	key_index_release(&mixing->by_context);
	key_index_release(&mixing->by_entry);
	key_index_release(&mixing->by_total);
	free(mixing->function_of);
	free(mixing->label_of);
	free(mixing->is_own);
	free(mixing->contexts);
	free(mixing->entries);
	free(mixing->context_of);
	free(mixing->function_hits);
	free(mixing->contexts_of);
	free(mixing->totals);
}

struct candidate_list *analyze_candidates(const struct view *view, double threshold, struct error *error)
{
	struct mixing mixing = { .view = view };
	struct candidate_list *list = calloc(1, sizeof(*list));
	mixing.function_of = malloc((view->label_count + 1) * sizeof(*mixing.function_of));
	mixing.label_of = malloc((view->label_count + 1) * sizeof(*mixing.label_of));
	mixing.is_own = own_labels_find(view);
	mixing.context_of = malloc(view->node_count * sizeof(*mixing.context_of));
	bool has_memory = list && mixing.function_of && mixing.label_of && mixing.is_own && mixing.context_of;
	int code = has_memory ? number_functions(&mixing) : ERROR_MEMORY;
	if (code == 0)
		code = walk(&mixing);
	if (code == 0)
		code = add_totals(&mixing);
	if (code == 0)
		code = choose(&mixing, threshold, list);
	mixing_release(&mixing);
	if (code == 0)
		return list;
	candidate_list_free(list);
	error_set(error, code, "cannot rank the call paths: %s", error_text(code));
	return NULL;
}

const char *candidate_name(const struct view *view, uint32_t label, char *text, size_t bytes)
{
	const struct view_label *row = &view->labels[label];
	const struct profile_function *function =
		row->function == PROFILE_NONE ? NULL : &view->profile->functions[row->function];
	const char *path = function ? profile_string(view->profile, function->file) : "", *file = path_basename(path);
	size_t owner = strlen(row->owner), size = strlen(file), whole = strlen(path);
	if (whole > size && owner > row->name_length + whole && strcmp(row->owner + owner - whole, path) == 0)
		file = path;
	else if (size == 0 || owner <= row->name_length + size || strcmp(row->owner + owner - size, file) != 0)
		file = NULL;
	snprintf(text, bytes, "%.*s%s%s", (int)row->name_length, row->text, file ? "@" : "", file ? file : "");
	return text;
}

void candidate_list_free(struct candidate_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].path);
	free(list->items);
	free(list);
}
