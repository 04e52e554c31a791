/*
 * The downward profile: the algorithm of the appendix of R. J. Hall and A. J. Goldberg, "Call Path Profiling of
 * Monotonic Program Resources in UNIX", USENIX Summer 1993, made iterative and without its search for the record of
 * a call path. An example with recursion, explained in docs/definitions.md:
 *
 *   stack         main  f      g        f          g
 *   P before      ()    (main) (main f) (main f g) (main f)
 *   path hit      main  main f main f g main f g f (main f g: has its hits)
 *   P after       main  main f main f g main f     main f g
 */
#include "analyze/analyses.h"
#include "analyze/build.h"
#include "analyze/path_trie.h"
#include "analyze/walk.h"

/* Returns the entry of P + label. */
static int64_t entry_of(struct fold_walk *walk, struct path_trie *trie, bool sole)
{
	uint32_t parent = walk->fold.length ? walk->fold.at[walk->fold.length - 1].entry : 0;
	return path_trie_child(trie, parent, walk->label, sole);
}

/* Gives the entry a node's hits, at most once per sample: the entry stays locked until the end of the subtree of the
 * node that gave it hits. */
static void credit(const struct view *view, uint32_t node, struct trie_entry *entry)
{
	if (node < entry->lock)
		return;
	entry->lock = view->end[node];
	entry->hits += view->weight[node];
}

/* A level's `mark` is set if its node created the entry and appended its label to P. Then no other node's path folds
 * to that entry, so that all requests for children of the entry come from children of this node (`sole` in
 * path_trie_child). */
static int count_paths(const struct view *view, struct fold_walk *walk, struct path_trie *trie)
{
	while (fold_walk_next(walk)) {
		struct walk_level *parent = fold_walk_parent(walk);
		bool sole = parent && parent->mark;
		size_t known = trie->count;
		int64_t entry = entry_of(walk, trie, sole);
		if (entry < 0)
			return (int)entry;
		credit(view, walk->node, &trie->entries[entry]);
		fold_walk_enter(walk, (uint32_t)entry);
		struct walk_level *level = fold_walk_parent(walk);
		level->mark = trie->count > known && level->label != FOLD_NONE;
	}
	return 0;
}

struct path_list *analyze_down(const struct view *view, const struct label_set *roots, struct error *error)
{
	if (label_set_check(view, roots, error) < 0)
		return NULL;
	struct fold_walk walk;
	struct path_trie trie;
	int result = fold_walk_init(&walk, view, roots);
	if (result < 0) {
		error_set(error, result, "out of memory for the downward profile");
		return NULL;
	}
	result = path_trie_init(&trie);
	if (result == 0)
		result = count_paths(view, &walk, &trie);
	fold_walk_release(&walk);
	struct path_list *list = NULL;
	if (result == 0)
		list = path_trie_list_down(&trie, error);
	else
		error_set(error, result, "cannot make the downward profile: %s", error_text(result));
	path_trie_release(&trie);
	return list;
}
