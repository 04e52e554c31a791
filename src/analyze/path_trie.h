/*
 * The paths of a result while they are counted: a trie. Entry 0 is the empty path, and the root labels are its
 * children. Internal to analyze/.
 */
#ifndef ANALYZE_PATH_TRIE_H
#define ANALYZE_PATH_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analyses.h"
#include "base/hash_map.h"

#define TRIE_NONE UINT32_MAX

struct trie_entry {
	uint64_t hits;
	uint32_t parent; /* the path without its newest label; 0 for a root, TRIE_NONE for entry 0 */
	uint32_t label;  /* the newest label */
	uint32_t first_child;
	uint32_t next_sibling; /* children are linked newest first */
	/* set by the walk: the entry gets no hits until this node; up.c uses it as a flag */
	uint32_t lock;
	uint32_t length : 30;  /* labels in the path */
	uint32_t indexed : 1;  /* the children are in `by_edge` too */
	uint32_t unsorted : 1; /* the children are not in the order of their labels */
};

struct path_trie {
	struct trie_entry *entries;
	size_t count;
	size_t capacity;
	struct hash_map by_edge; /* (parent, label) -> entry, for parents that are `indexed` */
};

/* Life cycle: init (makes entry 0), child..., a list, release. */
int path_trie_init(struct path_trie *trie);
void path_trie_release(struct path_trie *trie);

/* Returns the entry of `parent`'s path extended by `label`, and makes it if it is new; or ERROR_MEMORY or
 * ERROR_LIMIT. `sole` promises that this caller alone has asked for children of `parent`, and never for this label.
 * Unless `parent` is indexed already, the entry is then new and needs no lookup. */
int64_t path_trie_child(struct path_trie *trie, uint32_t parent, uint32_t label, bool sole);

/* Returns all entries but entry 0 as a sorted list; `down`: a path's newest label is its
 * innermost; `up`: its outermost. Returns NULL: ERROR_MEMORY or ERROR_LIMIT. */
struct path_list *path_trie_list_down(const struct path_trie *trie, struct error *error);
struct path_list *path_trie_list_up(const struct path_trie *trie, struct error *error);

/* The part of an entry that a path_list keeps. */
struct path_node {
	uint32_t label;
	uint32_t above; /* TRIE_NONE: the end of the path */
};

/* path_list.c: returns an empty list with room for `count` entries, `count` nodes and paths of up to `longest`
 * labels, or NULL: ERROR_MEMORY. */
struct path_list *path_list_new(size_t count, size_t longest, struct error *error);
/* Sorts the entries by decreasing hits; the sort is stable. Returns 0 or ERROR_MEMORY. */
int path_list_sort(struct path_list *list);
/* The same for an upward list; also puts entries of equal hits in the order of their paths. */
int path_list_sort_upward(struct path_list *list);

#endif
