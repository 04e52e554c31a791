/*
 * Compares lists of paths of two sides: builds one trie of the paths of all recordings over identities (identity.h), with a count
 * for each path and recording. diff_test.c makes figures of the counts.
 */
#include "analyze/diff_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/identity.h"
#include "analyze/lookup.h"
#include "analyze/path_trie.h"
#include "base/strings.h"

struct recording {
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
	for (size_t i = 0; list->of_label && i < list->runs[DIFF_A] + list->runs[DIFF_B]; i++)
		free(list->of_label[i]);
	free(list->of_label);
	free(list->views);
	path_list_free(list->paths);
	free(list->entries);
	free(list);
}

static int compare_entries(const void *left, const void *right)
{
	const struct diff_entry *a = left, *b = right;
	double change_a = fabs(a->gticks[DIFF_B] - a->gticks[DIFF_A]);
	double change_b = fabs(b->gticks[DIFF_B] - b->gticks[DIFF_A]);
	if (change_a != change_b)
		return change_a < change_b ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Adds one path, from the first of its nodes that has no entry yet. `waiting` has room for the path. */
static int add_path(struct path_trie *trie, struct recording *recording, uint32_t node, uint32_t *waiting)
{
	const struct path_node *nodes = recording->paths->nodes;
	size_t count = 0;
	for (; node != TRIE_NONE && recording->entry[node] == TRIE_NONE; node = nodes[node].above)
		waiting[count++] = node;
	int64_t entry = node == TRIE_NONE ? 0 : recording->entry[node];
	while (count > 0 && entry >= 0) {
		node = waiting[--count];
		entry = path_trie_child(trie, (uint32_t)entry, recording->identity[nodes[node].label], false);
		recording->entry[node] = entry < 0 ? TRIE_NONE : (uint32_t)entry;
	}
	return entry < 0 ? (int)entry : 0;
}

static int add_recording(struct path_trie *trie, struct recording *recording)
{
	const struct path_list *paths = recording->paths;
	recording->entry = malloc((paths->node_count + 1) * sizeof(*recording->entry));
	uint32_t longest = 0;
	for (size_t i = 0; i < paths->count; i++)
		longest = paths->entries[i].length > longest ? paths->entries[i].length : longest;
	uint32_t *waiting = malloc((longest + (size_t)1) * sizeof(*waiting));
	int result = recording->entry && waiting ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < paths->node_count && result == 0; i++)
		recording->entry[i] = TRIE_NONE;
	for (size_t i = 0; i < paths->count && result == 0; i++)
		result = add_path(trie, recording, paths->entries[i].node, waiting);
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

/* Fills in the hits of all recordings, and tests them. */
static int fill_entries(struct diff_list *list, size_t trie_count, const struct recording *recordings)
{
	size_t runs = list->runs[DIFF_A] + list->runs[DIFF_B];
	uint64_t *hits = calloc(trie_count * runs, sizeof(*hits)); /* per trie entry and recording */
	if (!hits)
		return ERROR_MEMORY;
	for (size_t run = 0; run < runs; run++) {
		const struct path_list *paths = recordings[run].paths;
		for (size_t i = 0; i < paths->count; i++)
			hits[recordings[run].entry[paths->entries[i].node] * runs + run] += paths->entries[i].hits;
	}
	for (size_t i = 0; i < list->paths->count; i++)
		list->entries[list->count++] =
			(struct diff_entry){ .path = list->paths->entries[i], .order = (uint32_t)i };
	int result = diff_test(list, hits);
	free(hits);
	qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	return result;
}

static int compare(struct diff_list *list, struct path_trie *trie, struct recording *recordings)
{
	size_t runs = list->runs[DIFF_A] + list->runs[DIFF_B];
	struct identities identities;
	int result = identities_init(&identities, list->views, runs, list->texts);
	for (size_t run = 0; run < runs && result == 0; run++) {
		recordings[run].identity = identities.of_label[run];
		result = add_recording(trie, &recordings[run]);
	}
	if (result == 0)
		result = list_paths(list, trie, recordings[0].paths->upward);
	if (result == 0)
		result = fill_entries(list, trie->count, recordings);
	list->names = identities.names;
	list->of_label = identities.of_label;
	identities.names = NULL;
	identities.of_label = NULL;
	identities_release(&identities);
	return result;
}

/* Returns a list without entries, or NULL if memory is exhausted. */
static struct diff_list *new_list(const struct diff_run *runs, const size_t counts[DIFF_SIDES])
{
	size_t count = counts[DIFF_A] + counts[DIFF_B];
	struct diff_list *list = calloc(1, sizeof(*list));
	if (!list)
		return NULL;
	list->runs[DIFF_A] = counts[DIFF_A];
	list->runs[DIFF_B] = counts[DIFF_B];
	list->scaled_to = runs[0].scaled_to;
	list->spread = runs[0].spread;
	list->views = calloc(count, sizeof(*list->views));
	list->texts = calloc(1, sizeof(*list->texts));
	bool has_texts = list->texts && strings_init(list->texts) == 0;
	if (!list->views || !has_texts) {
		if (!has_texts) {
			free(list->texts);
			list->texts = NULL;
		}
		diff_list_free(list);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		list->views[i] = runs[i].view;
	return list;
}

struct diff_list *analyze_diff(const struct diff_run *runs, const size_t counts[DIFF_SIDES], struct error *error)
{
	size_t count = counts[DIFF_A] + counts[DIFF_B];
	struct diff_list *list = new_list(runs, counts);
	struct recording *recordings = calloc(count, sizeof(*recordings));
	struct path_trie trie;
	bool ready = path_trie_init(&trie) == 0 && list && recordings;
	for (size_t i = 0; ready && i < count; i++)
		recordings[i].paths = runs[i].paths;
	int result = ready ? compare(list, &trie, recordings) : ERROR_MEMORY;
	path_trie_release(&trie);
	for (size_t i = 0; recordings && i < count; i++)
		free(recordings[i].entry);
	free(recordings);
	if (result == 0)
		return list;
	diff_list_free(list);
	error_set(error, result, "cannot compare the profiles: %s", error_text(result));
	return NULL;
}

/* --- the choice of entries --- */

static bool step_has(const struct label_set *step, const uint32_t *of_label, uint32_t identity)
{
	for (size_t i = 0; i < step->count; i++)
		if (of_label[step->labels[i]] == identity)
			return true;
	return false;
}

static bool is_path(const struct diff_list *list, const struct diff_entry *entry, const struct what_if *path,
		    const uint32_t *of_label)
{
	const uint32_t *names = path_labels(list->paths, &entry->path);
	bool equal = entry->path.length == path->length;
	for (size_t i = 0; equal && i < path->length; i++)
		equal = step_has(&path->steps[i], of_label, names[i]);
	return equal;
}

static bool is_selected(const struct diff_list *list, const struct diff_entry *entry,
			const struct lookup_what_if *paths, bool *found)
{
	bool is_any = false;
	for (size_t run = 0; run < list->runs[DIFF_A] + list->runs[DIFF_B]; run++) {
		for (size_t i = 0; i < paths[run].count; i++) {
			bool is_this = is_path(list, entry, &paths[run].paths[i], list->of_label[run]);
			found[i] = found[i] || is_this;
			is_any = is_any || is_this;
		}
	}
	return is_any;
}

void diff_select_paths(struct diff_list *list, const struct lookup_what_if *paths, bool *found)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++)
		if (is_selected(list, &list->entries[i], paths, found))
			list->entries[kept++] = list->entries[i];
	list->count = kept;
}
