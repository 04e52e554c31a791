/*
 * Compares two lists of paths: builds one trie of the paths of both over identities (identity.h), with two counts
 * for each path.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/identity.h"
#include "analyze/path_trie.h"
#include "base/strings.h"

enum { SIDES = IDENTITY_SIDES };

struct side {
	const struct view *view;
	const struct path_list *paths;
	const uint32_t *identity; /* per label */
	uint32_t *entry;          /* per node of the list: its trie entry, or TRIE_NONE; owned */
};

void diff_list_free(struct diff_list *list)
{
	if (!list)
		return;
	if (list->texts)
		strings_release(list->texts);
	free(list->texts);
	free(list->names);
	path_list_free(list->paths);
	free(list->entries);
	free(list);
}

/* Pooled two-proportion z test on independent samples (Fleiss, "Statistical Methods for Rates and Proportions",
 * 1981, section 2.3). */
static double two_proportions(const struct diff_entry *entry, uint64_t samples_a, uint64_t samples_b)
{
	double n_a = (double)samples_a, n_b = (double)samples_b;
	if (samples_a == 0 || samples_b == 0)
		return 0;
	double pooled = (entry->fraction_a * n_a + entry->fraction_b * n_b) / (n_a + n_b);
	double variance = pooled * (1 - pooled) * (1 / n_a + 1 / n_b);
	return variance > 0 ? (entry->fraction_b - entry->fraction_a) / sqrt(variance) : 0;
}

static double fraction(uint64_t hits, uint64_t total)
{
	return total ? (double)hits / (double)total : 0;
}

static void finish_entry(struct diff_entry *entry, const struct view *a, const struct view *b)
{
	bool exact = a->resource->kind == RESOURCE_EXACT || b->resource->kind == RESOURCE_EXACT;
	entry->fraction_a = fraction(entry->hits_a, a->total);
	entry->fraction_b = fraction(entry->hits_b, b->total);
	entry->gticks_a = (double)entry->hits_a * (double)a->resource->interval;
	entry->gticks_b = (double)entry->hits_b * (double)b->resource->interval;
	entry->z = exact ? 0 : two_proportions(entry, a->samples, b->samples);
	/* 95 % of the differences that are due to chance are smaller than 1.96. */
	entry->significant = exact ? entry->gticks_a != entry->gticks_b : fabs(entry->z) >= 1.96;
}

static int compare_entries(const void *left, const void *right)
{
	const struct diff_entry *a = left, *b = right;
	double change_a = fabs(a->fraction_b - a->fraction_a), change_b = fabs(b->fraction_b - b->fraction_a);
	if (change_a != change_b)
		return change_a < change_b ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Adds one path, from the first of its nodes that has no entry yet. `waiting` has room for the path. */
static int add_path(struct path_trie *trie, struct side *side, uint32_t node, uint32_t *waiting)
{
	const struct path_node *nodes = side->paths->nodes;
	size_t count = 0;
	for (; node != TRIE_NONE && side->entry[node] == TRIE_NONE; node = nodes[node].above)
		waiting[count++] = node;
	int64_t entry = node == TRIE_NONE ? 0 : side->entry[node];
	while (count > 0 && entry >= 0) {
		node = waiting[--count];
		entry = path_trie_child(trie, (uint32_t)entry, side->identity[nodes[node].label], false);
		side->entry[node] = entry < 0 ? TRIE_NONE : (uint32_t)entry;
	}
	return entry < 0 ? (int)entry : 0;
}

static int add_side(struct path_trie *trie, struct side *side)
{
	const struct path_list *paths = side->paths;
	side->entry = malloc((paths->node_count + 1) * sizeof(*side->entry));
	uint32_t longest = 0;
	for (size_t i = 0; i < paths->count; i++)
		longest = paths->entries[i].length > longest ? paths->entries[i].length : longest;
	uint32_t *waiting = malloc((longest + (size_t)1) * sizeof(*waiting));
	int result = side->entry && waiting ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < paths->node_count && result == 0; i++)
		side->entry[i] = TRIE_NONE;
	for (size_t i = 0; i < paths->count && result == 0; i++)
		result = add_path(trie, side, paths->entries[i].node, waiting);
	free(waiting);
	return result;
}

/* Lists the trie's paths in their order, as entries without counts. */
static int list_paths(struct diff_list *list, struct path_trie *trie, bool upward)
{
	for (size_t i = 0; i < trie->count; i++)
		trie->entries[i].hits = 1; /* paths with equal hits are listed in the order of their labels */
	list->paths = upward ? path_trie_list_up(trie, NULL) : path_trie_list_down(trie, NULL);
	list->entries = calloc(trie->count, sizeof(*list->entries));
	return list->paths && list->entries ? 0 : ERROR_MEMORY;
}

static int fill_entries(struct diff_list *list, size_t trie_count, const struct side sides[SIDES])
{
	uint64_t(*hits)[SIDES] = calloc(trie_count, sizeof(*hits));
	if (!hits)
		return ERROR_MEMORY;
	for (size_t side = 0; side < SIDES; side++) {
		const struct path_list *paths = sides[side].paths;
		for (size_t i = 0; i < paths->count; i++)
			hits[sides[side].entry[paths->entries[i].node]][side] += paths->entries[i].hits;
	}
	for (size_t i = 0; i < list->paths->count; i++) {
		struct diff_entry entry = { .path = list->paths->entries[i], .order = (uint32_t)i };
		entry.hits_a = hits[entry.path.node][0];
		entry.hits_b = hits[entry.path.node][1];
		finish_entry(&entry, sides[0].view, sides[1].view);
		list->entries[list->count++] = entry;
	}
	free(hits);
	qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	return 0;
}

static int compare(struct diff_list *list, struct path_trie *trie, struct side sides[SIDES])
{
	const struct view *const views[SIDES] = { sides[0].view, sides[1].view };
	struct identities identities;
	int result = identities_init(&identities, views, list->texts);
	for (size_t side = 0; side < SIDES && result == 0; side++) {
		sides[side].identity = identities.of_label[side];
		result = add_side(trie, &sides[side]);
	}
	if (result == 0)
		result = list_paths(list, trie, sides[0].paths->upward);
	if (result == 0)
		result = fill_entries(list, trie->count, sides);
	list->names = identities.names;
	identities.names = NULL;
	identities_release(&identities);
	return result;
}

struct diff_list *analyze_diff(const struct view *view_a, const struct path_list *a, const struct view *view_b,
			       const struct path_list *b, struct error *error)
{
	struct side sides[SIDES] = { { .view = view_a, .paths = a }, { .view = view_b, .paths = b } };
	struct diff_list *list = calloc(1, sizeof(*list));
	struct strings *texts = calloc(1, sizeof(*texts));
	struct path_trie trie;
	bool ready = path_trie_init(&trie) == 0 && list && texts && strings_init(texts) == 0;
	if (ready)
		list->texts = texts;
	else
		free(texts);
	int result = ready ? compare(list, &trie, sides) : ERROR_MEMORY;
	path_trie_release(&trie);
	free(sides[0].entry);
	free(sides[1].entry);
	if (result == 0)
		return list;
	diff_list_free(list);
	error_set(error, result, "cannot compare the profiles: %s", error_text(result));
	return NULL;
}
