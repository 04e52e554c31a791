/* Finds the rows of two results that have equal paths: the paths of both are entered into one trie, by the texts of their labels. Rows
 * with the same entry of the trie have equal paths. */
#include "analyze/path_errors.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path_trie.h"
#include "base/strings.h"

struct matching {
	struct path_trie trie;
	struct strings texts;
};

static size_t row_count(const struct path_rows *rows)
{
	return rows->list ? rows->list->count : rows->view->node_count;
}

/* Returns the entry of `parent` and a label of the view, or a negative error. */
static int64_t entry_below(struct matching *matching, int64_t parent, const struct view *view, uint32_t label)
{
	const char *text = view->labels[label].text;
	int64_t id = strings_add(&matching->texts, text, strlen(text));
	return id < 0 ? id : path_trie_child(&matching->trie, (uint32_t)parent, (uint32_t)id, false);
}

static int enter_list(struct matching *matching, const struct path_rows *rows, uint32_t *entries)
{
	for (size_t row = 0; row < rows->list->count; row++) {
		const struct path_entry *path = &rows->list->entries[row];
		const uint32_t *labels = path_labels(rows->list, path);
		int64_t entry = 0;
		for (uint32_t i = 0; i < path->length && entry >= 0; i++)
			entry = entry_below(matching, entry, rows->view, labels[i]);
		if (entry < 0)
			return (int)entry;
		entries[row] = (uint32_t)entry;
	}
	return 0;
}

static int enter_tree(struct matching *matching, const struct view *view, uint32_t *entries)
{
	entries[0] = 0;
	for (uint32_t node = 1; node < view->node_count; node++) {
		int64_t entry = entry_below(matching, entries[view->parent[node]], view, view->label[node]);
		if (entry < 0)
			return (int)entry;
		entries[node] = (uint32_t)entry;
	}
	return 0;
}

/* Returns the trie's entry of each row, which the caller frees, or NULL with *status set. */
static uint32_t *entries_of(struct matching *matching, const struct path_rows *rows, int *status)
{
	uint32_t *entries = calloc(row_count(rows) + 1, sizeof(*entries));
	*status = !entries     ? ERROR_MEMORY
		  : rows->list ? enter_list(matching, rows, entries)
			       : enter_tree(matching, rows->view, entries);
	if (*status < 0) {
		free(entries);
		return NULL;
	}
	return entries;
}

static uint64_t hits_of(const struct path_rows *rows, size_t row)
{
	return rows->list ? rows->list->entries[row].hits : rows->view->weight[row];
}

/* Returns the hits of `errors` for `entries` [count], or NULL: ERROR_MEMORY. */
static uint64_t *look_up(const struct matching *matching, const uint32_t *entries, size_t count,
			 const struct path_rows *errors, const uint32_t *error_entries)
{
	uint64_t *found = calloc(count + 1, sizeof(*found));
	uint64_t *by_entry = calloc(matching->trie.count + 1, sizeof(*by_entry));
	for (size_t row = 0; row < row_count(errors) && by_entry; row++)
		by_entry[error_entries[row]] = hits_of(errors, row);
	for (size_t row = 0; row < count && found && by_entry; row++)
		found[row] = by_entry[entries[row]];
	bool has_room = by_entry;
	free(by_entry);
	if (!has_room) {
		free(found);
		return NULL;
	}
	return found;
}

static uint64_t *match(struct matching *matching, const struct path_rows *rows, const struct path_rows *errors,
		       int *status)
{
	uint64_t *found = NULL;
	uint32_t *entries = entries_of(matching, rows, status);
	uint32_t *error_entries = entries ? entries_of(matching, errors, status) : NULL;
	if (error_entries) {
		found = look_up(matching, entries, row_count(rows), errors, error_entries);
		*status = found ? 0 : ERROR_MEMORY;
	}
	free(entries);
	free(error_entries);
	return found;
}

uint64_t *path_errors(const struct path_rows *rows, const struct path_rows *errors, struct error *error)
{
	struct matching matching = { 0 };
	uint64_t *found = NULL;
	int status = strings_init(&matching.texts);
	if (status == 0) {
		status = path_trie_init(&matching.trie);
		if (status == 0)
			found = match(&matching, rows, errors, &status);
		path_trie_release(&matching.trie);
		strings_release(&matching.texts);
	}
	if (!found)
		error_set(error, status, "cannot find the errors of times: %s", error_text(status));
	return found;
}
