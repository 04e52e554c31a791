#include "analyze/path_trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

enum { LENGTH_LIMIT = (1 << 30) - 1 };

static int64_t add_entry(struct path_trie *trie, uint32_t parent, uint32_t label, uint32_t length)
{
	if (trie->count >= TRIE_NONE || length > LENGTH_LIMIT)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(trie->entries, trie->capacity, trie->count + 1) < 0)
		return ERROR_MEMORY;
	trie->entries[trie->count] = (struct trie_entry){ .parent = parent,
							  .label = label,
							  .first_child = TRIE_NONE,
							  .next_sibling = TRIE_NONE,
							  .length = length & LENGTH_LIMIT };
	return (int64_t)trie->count++;
}

int path_trie_init(struct path_trie *trie, uint32_t root_label)
{
	*trie = (struct path_trie){ 0 };
	hash_map_init(&trie->by_edge);
	return (int)add_entry(trie, TRIE_NONE, root_label, 1);
}

void path_trie_release(struct path_trie *trie)
{
	free(trie->entries);
	hash_map_release(&trie->by_edge);
	*trie = (struct path_trie){ 0 };
}

static uint64_t edge_key(uint32_t parent, uint32_t label)
{
	return (uint64_t)parent << 32 | label;
}

static int index_children(struct path_trie *trie, uint32_t parent)
{
	struct trie_entry *entries = trie->entries;
	for (uint32_t child = entries[parent].first_child; child != TRIE_NONE; child = entries[child].next_sibling)
		if (hash_map_put(&trie->by_edge, edge_key(parent, entries[child].label), child) < 0)
			return ERROR_MEMORY;
	entries[parent].indexed = 1;
	return 0;
}

int64_t path_trie_child(struct path_trie *trie, uint32_t parent, uint32_t label, bool sole)
{
	bool indexed = trie->entries[parent].indexed;
	if (!indexed && !sole) {
		if (index_children(trie, parent) < 0)
			return ERROR_MEMORY;
		indexed = true;
	}
	if (indexed) {
		uint32_t found = hash_map_get(&trie->by_edge, edge_key(parent, label));
		if (found != HASH_MAP_NONE)
			return found;
		if (hash_map_reserve(&trie->by_edge, trie->by_edge.count + 1) < 0)
			return ERROR_MEMORY;
	}
	int64_t child = add_entry(trie, parent, label, trie->entries[parent].length + 1);
	if (child < 0)
		return child;
	if (indexed)
		hash_map_put(&trie->by_edge, edge_key(parent, label), (uint32_t)child);
	struct trie_entry *above = &trie->entries[parent];
	if (above->first_child != TRIE_NONE && trie->entries[above->first_child].label > label)
		above->unsorted = 1;
	trie->entries[child].next_sibling = above->first_child;
	above->first_child = (uint32_t)child;
	return child;
}

/* Labels that the list takes: each leaf's path is stored, and every other
 * path is a part of a leaf's. */
static size_t count_labels(const struct path_trie *trie)
{
	size_t labels = 0;
	for (size_t i = 0; i < trie->count; i++)
		if (trie->entries[i].first_child == TRIE_NONE)
			labels += trie->entries[i].length;
	return labels;
}

static struct path_list *new_list(const struct path_trie *trie, struct error *error)
{
	size_t labels = count_labels(trie);
	if (labels >= UINT32_MAX) {
		error_set(error, ERROR_LIMIT, "the call paths of this result have %zu names in all, too many", labels);
		return NULL;
	}
	return path_list_new(trie->count, labels, error);
}

/* A depth-first walk of the trie: `stack` holds entries still to visit, `path`
 * the labels of the entry being visited. */
struct trie_walk {
	const struct path_trie *trie;
	uint32_t *stack;
	size_t count;
	size_t capacity;
	uint32_t *path;
	size_t path_capacity;
};

struct labelled {
	uint32_t label;
	uint32_t entry;
};

static int compare_labelled(const void *left, const void *right)
{
	uint32_t a = ((const struct labelled *)left)->label, b = ((const struct labelled *)right)->label;
	return (a < b) - (a > b);
}

/* The children just pushed, which are not in the order of their labels. */
static int sort_pushed(struct trie_walk *walk, size_t from)
{
	size_t count = walk->count - from;
	struct labelled *children = malloc(count * sizeof(*children));
	if (!children)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		uint32_t entry = walk->stack[from + i];
		children[i] = (struct labelled){ .label = walk->trie->entries[entry].label, .entry = entry };
	}
	qsort(children, count, sizeof(*children), compare_labelled);
	for (size_t i = 0; i < count; i++)
		walk->stack[from + i] = children[i].entry;
	free(children);
	return 0;
}

/* Pushes an entry's children, the one with the smallest label last. */
static int push_children(struct trie_walk *walk, const struct trie_entry *entry)
{
	size_t from = walk->count;
	uint32_t child = entry->first_child;
	for (; child != TRIE_NONE; child = walk->trie->entries[child].next_sibling) {
		if (ARRAY_RESERVE(walk->stack, walk->capacity, walk->count + 1) < 0)
			return ERROR_MEMORY;
		walk->stack[walk->count++] = child;
	}
	return entry->unsorted ? sort_pushed(walk, from) : 0;
}

/* Appends the entry, and at a leaf its path. All entries since the last leaf are
 * the beginnings of the next leaf's path: they start where it will. */
static int visit(struct trie_walk *walk, struct path_list *list)
{
	const struct trie_entry *entry = &walk->trie->entries[walk->stack[--walk->count]];
	if (ARRAY_RESERVE(walk->path, walk->path_capacity, entry->length) < 0)
		return ERROR_MEMORY;
	walk->path[entry->length - 1] = entry->label;
	list->entries[list->count++] =
		(struct path_entry){ .first = (uint32_t)list->label_count, .length = entry->length, .hits = entry->hits };
	if (entry->first_child != TRIE_NONE)
		return push_children(walk, entry);
	memcpy(list->labels + list->label_count, walk->path, entry->length * sizeof(*walk->path));
	list->label_count += entry->length;
	return 0;
}

/* Frees the list and says why, unless all went well and there were hits. */
static struct path_list *finish_list(struct path_list *list, int result, struct error *error)
{
	if (result == 0)
		return list;
	path_list_free(list);
	error_set(error, ERROR_MEMORY, "out of memory for a list of call paths");
	return NULL;
}

struct path_list *path_trie_list_down(const struct path_trie *trie, struct error *error)
{
	struct path_list *list = new_list(trie, error);
	if (!list || trie->entries[0].hits == 0)
		return list;
	struct trie_walk walk = { .trie = trie };
	int result = ARRAY_RESERVE(walk.stack, walk.capacity, 1);
	if (result == 0)
		walk.stack[walk.count++] = 0;
	while (walk.count > 0 && result == 0)
		result = visit(&walk, list);
	free(walk.stack);
	free(walk.path);
	if (result == 0)
		result = path_list_sort(list);
	return finish_list(list, result, error);
}

/* A leaf's labels from itself to the root; every entry on that way that has no
 * place yet ends the same. */
static void store_leaf(const struct path_trie *trie, uint32_t leaf, struct path_list *list, uint32_t *first)
{
	for (uint32_t entry = leaf; entry != TRIE_NONE; entry = trie->entries[entry].parent) {
		if (first[entry] == TRIE_NONE)
			first[entry] = (uint32_t)list->label_count;
		list->labels[list->label_count++] = trie->entries[entry].label;
	}
}

struct path_list *path_trie_list_up(const struct path_trie *trie, struct error *error)
{
	struct path_list *list = new_list(trie, error);
	if (!list || trie->entries[0].hits == 0)
		return list;
	uint32_t *first = malloc(trie->count * sizeof(*first));
	if (!first)
		return finish_list(list, ERROR_MEMORY, error);
	memset(first, 0xff, trie->count * sizeof(*first));
	for (uint32_t i = 0; i < trie->count; i++)
		if (trie->entries[i].first_child == TRIE_NONE)
			store_leaf(trie, i, list, first);
	for (size_t i = 0; i < trie->count; i++)
		list->entries[list->count++] = (struct path_entry){
			.first = first[i], .length = trie->entries[i].length, .hits = trie->entries[i].hits
		};
	free(first);
	return finish_list(list, path_list_sort_paths(list), error);
}
