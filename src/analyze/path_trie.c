#include "analyze/path_trie.h"

#include <stdlib.h>

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

int path_trie_init(struct path_trie *trie)
{
	*trie = (struct path_trie){ 0 };
	hash_map_init(&trie->by_edge);
	return (int)add_entry(trie, TRIE_NONE, 0, 0);
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

/* Makes a list with the trie's paths and no entries. */
static struct path_list *new_list(const struct path_trie *trie, struct error *error)
{
	uint32_t longest = 0;
	for (size_t i = 0; i < trie->count; i++)
		if (trie->entries[i].length > longest)
			longest = trie->entries[i].length;
	struct path_list *list = path_list_new(trie->count, longest, error);
	if (!list)
		return NULL;
	for (size_t i = 0; i < trie->count; i++) {
		const struct trie_entry *entry = &trie->entries[i];
		list->nodes[i] = (struct path_node){ .label = entry->label,
						     .above = entry->parent == 0 ? TRIE_NONE : entry->parent };
	}
	list->node_count = trie->count;
	return list;
}

static void add_to_list(struct path_list *list, const struct path_trie *trie, uint32_t entry)
{
	list->entries[list->count++] = (struct path_entry){ .hits = trie->entries[entry].hits,
							    .node = entry,
							    .length = trie->entries[entry].length };
}

/* The entries that a depth-first walk of the trie has yet to visit. */
struct trie_walk {
	const struct path_trie *trie;
	uint32_t *stack;
	size_t count;
	size_t capacity;
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

/* Sorts the children that were just pushed by decreasing label. */
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

/* Pushes an entry's children, the child with the smallest label last. */
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

static struct path_list *finish_list(struct path_list *list, int result, struct error *error)
{
	if (result == 0)
		return list;
	path_list_free(list);
	error_set(error, ERROR_MEMORY, "out of memory for a list of call paths");
	return NULL;
}

/* Depth-first order is the order of the paths; the stable sort by hits keeps it among equals. */
struct path_list *path_trie_list_down(const struct path_trie *trie, struct error *error)
{
	struct path_list *list = new_list(trie, error);
	if (!list)
		return NULL;
	struct trie_walk walk = { .trie = trie };
	int result = push_children(&walk, &trie->entries[0]);
	while (walk.count > 0 && result == 0) {
		uint32_t entry = walk.stack[--walk.count];
		add_to_list(list, trie, entry);
		result = push_children(&walk, &trie->entries[entry]);
	}
	free(walk.stack);
	if (result == 0)
		result = path_list_sort(list);
	return finish_list(list, result, error);
}

struct path_list *path_trie_list_up(const struct path_trie *trie, struct error *error)
{
	struct path_list *list = new_list(trie, error);
	if (!list)
		return NULL;
	list->upward = true;
	for (uint32_t i = 1; i < trie->count; i++)
		add_to_list(list, trie, i);
	return finish_list(list, path_list_sort_upward(list), error);
}
