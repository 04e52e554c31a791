/*
 * The paths of a result while they are counted: a trie whose entry 0 is the empty
 * path, the root labels its children. Internal to analyze/.
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
	uint32_t parent; /* the path without its newest label; 0 of a root, TRIE_NONE of entry 0 */
	uint32_t label;  /* that label */
	uint32_t first_child;
	uint32_t next_sibling; /* the newest child first */
	uint32_t lock;         /* the walk's: until when the entry has had its hits */
	uint32_t length : 30;  /* labels in the path */
	uint32_t indexed : 1;  /* the children are in `by_edge` too */
	uint32_t unsorted : 1; /* a child was added whose label is smaller than the one before */
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

/* The entry of `parent`'s path extended by `label`, made if new; negative:
 * ERROR_MEMORY, ERROR_LIMIT. `sole` says that the caller alone has asked for
 * children of this entry so far, and never for this label: then, as long as
 * nobody else has, the entry is new and nothing need be looked up. */
int64_t path_trie_child(struct path_trie *trie, uint32_t parent, uint32_t label, bool sole);

/* All entries but 0 as a sorted list; all have hits. `down`: a path's newest label is its
 * innermost; `up`: its outermost. NULL: ERROR_MEMORY or ERROR_LIMIT. */
struct path_list *path_trie_list_down(const struct path_trie *trie, struct error *error);
struct path_list *path_trie_list_up(const struct path_trie *trie, struct error *error);

/* What a path_list keeps of an entry. */
struct path_node {
	uint32_t label;
	uint32_t above; /* TRIE_NONE: the path's end */
};

/* path_list.c: an empty list with room for `count` entries and as many nodes, and
 * paths of up to `longest` labels. */
struct path_list *path_list_new(size_t count, size_t longest, struct error *error);
/* A stable sort of the entries by decreasing hits: 0 or ERROR_MEMORY. */
int path_list_sort(struct path_list *list);
/* The same of an upward list, with ties put in the order of their paths. */
int path_list_sort_upward(struct path_list *list);

#endif
