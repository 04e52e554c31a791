#include "analyze/subtree.h"

#include <stdlib.h>

#include "base/hash_map.h"

/* The subtree while it is built. Nodes are first numbered in the order of discovery, a parent before its children.
 * Then each gets its position in the view's order, in which the nodes of a subtree are contiguous. */
struct growth {
	uint32_t *copies; /* per node of the view: its node here; 0: neither it nor a node above it is a root */
	uint32_t *parent;
	uint32_t *label;
	uint64_t *hits;
	uint64_t *weight;
	uint32_t *order;    /* the nodes, children of one node together and sorted by label */
	uint32_t *size;     /* number of nodes in its subtree, itself included */
	uint32_t *position; /* position in the final order */
	uint32_t *next;     /* position of its next child */
	size_t count;
	struct hash_map by_edge; /* (parent, label) -> node */
};

static int growth_init(struct growth *growth, size_t capacity)
{
	*growth = (struct growth){ .count = 1 };
	hash_map_init(&growth->by_edge);
	growth->copies = calloc(capacity, sizeof(*growth->copies));
	growth->parent = calloc(capacity, sizeof(*growth->parent));
	growth->label = calloc(capacity, sizeof(*growth->label));
	growth->hits = calloc(capacity, sizeof(*growth->hits));
	growth->weight = calloc(capacity, sizeof(*growth->weight));
	growth->order = calloc(capacity, sizeof(*growth->order));
	growth->size = calloc(capacity, sizeof(*growth->size));
	growth->position = calloc(capacity, sizeof(*growth->position));
	growth->next = calloc(capacity, sizeof(*growth->next));
	bool whole = growth->copies && growth->parent && growth->label && growth->hits && growth->weight &&
		     growth->order && growth->size && growth->position && growth->next;
	return whole ? 0 : ERROR_MEMORY;
}

static void growth_release(struct growth *growth)
{
	free(growth->copies);
	free(growth->parent);
	free(growth->label);
	free(growth->hits);
	free(growth->weight);
	free(growth->order);
	free(growth->size);
	free(growth->position);
	free(growth->next);
	hash_map_release(&growth->by_edge);
}

/* Returns the child of `parent` with that label, and makes it if it is new. */
static int64_t child_of(struct growth *growth, uint32_t parent, uint32_t label)
{
	uint64_t edge = (uint64_t)parent << 32 | label;
	uint32_t node = hash_map_get(&growth->by_edge, edge);
	if (node != HASH_MAP_NONE)
		return node;
	node = (uint32_t)growth->count;
	if (hash_map_put(&growth->by_edge, edge, node))
		return ERROR_MEMORY;
	growth->count++;
	growth->parent[node] = parent;
	growth->label[node] = label;
	return node;
}

/* Copies the subtree of a node that is not below another root. Parents precede children, so one pass can derive each
 * node's copy from its parent's. */
static int copy_subtree(struct growth *growth, const struct view *view, uint32_t top)
{
	for (uint32_t node = top; node < view->end[top]; node++) {
		uint32_t above = node == top ? 0 : growth->copies[view->parent[node]];
		int64_t copy = child_of(growth, above, view->label[node]);
		if (copy < 0)
			return (int)copy;
		growth->copies[node] = (uint32_t)copy;
		growth->hits[copy] += view->hits[node];
	}
	return 0;
}

/* A node has no copy if neither it nor a node above it has a root label. */
static int copy_nodes(struct growth *growth, const struct view *view, const struct label_set *roots)
{
	int result = 0;
	for (uint32_t node = 1; node < view->node_count && result == 0;) {
		bool is_root = label_set_has(roots, view->label[node]);
		result = is_root ? copy_subtree(growth, view, node) : 0;
		node = is_root ? view->end[node] : node + 1;
	}
	return result;
}

static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct growth *growth = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	if (growth->parent[a] != growth->parent[b])
		return growth->parent[a] < growth->parent[b] ? -1 : 1;
	return growth->label[a] < growth->label[b] ? -1 : 1;
}

/* Adds up weights and sizes from the leaves upwards, then assigns positions from the root downwards: a node has its position
 * before its children get theirs, because its number is smaller. */
static void place_nodes(struct growth *growth)
{
	for (size_t node = growth->count; node-- > 0;) {
		growth->weight[node] += growth->hits[node];
		growth->size[node]++;
		if (node == 0)
			break;
		growth->weight[growth->parent[node]] += growth->weight[node];
		growth->size[growth->parent[node]] += growth->size[node];
	}
	growth->next[0] = 1;
	for (uint32_t node = 1; node < growth->count; node++)
		growth->order[node] = node;
	qsort_r(growth->order + 1, growth->count - 1, sizeof(*growth->order), compare_siblings, growth);
	for (size_t i = 1; i < growth->count; i++) {
		uint32_t node = growth->order[i];
		uint32_t *next = &growth->next[growth->parent[node]];
		growth->position[node] = *next;
		*next += growth->size[node];
		growth->next[node] = growth->position[node] + 1;
	}
}

static void fill(struct view *subtree, const struct growth *growth)
{
	size_t count = growth->count;
	for (size_t node = 0; node < count; node++) {
		uint32_t position = growth->position[node];
		subtree->parent[position] = node ? growth->position[growth->parent[node]] : PROFILE_NONE;
		subtree->label[position] = node ? growth->label[node] : PROFILE_NONE;
		subtree->hits[position] = growth->hits[node];
		subtree->weight[position] = growth->weight[node];
		subtree->end[position] = position + growth->size[node];
	}
	/* The children of n are counted at n + 2. After adding up, the start of n's children is at n + 1; storing the
	 * children advances it to their end, which is the start of the children of n + 1. */
	for (size_t node = 1; node < count; node++)
		subtree->child_start[subtree->parent[node] + 2]++;
	for (size_t node = 2; node <= count; node++)
		subtree->child_start[node] += subtree->child_start[node - 1];
	for (size_t node = 1; node < count; node++)
		subtree->child[subtree->child_start[subtree->parent[node] + 1]++] = (uint32_t)node;
	subtree->node_count = count;
}

/* Returns an empty copy of the view with room for `count` nodes, or NULL if memory is exhausted. */
static struct view *subtree_with_room(const struct view *view, size_t count)
{
	struct view *subtree = malloc(sizeof(*subtree));
	if (!subtree)
		return NULL;
	*subtree = *view;
	subtree->sampled = NULL;
	subtree->parent = calloc(count, sizeof(*subtree->parent));
	subtree->label = calloc(count, sizeof(*subtree->label));
	subtree->hits = calloc(count, sizeof(*subtree->hits));
	subtree->weight = calloc(count, sizeof(*subtree->weight));
	subtree->end = calloc(count, sizeof(*subtree->end));
	subtree->child = calloc(count, sizeof(*subtree->child));
	subtree->child_start = calloc(count + 2, sizeof(*subtree->child_start));
	if (subtree->parent && subtree->label && subtree->hits && subtree->weight && subtree->end && subtree->child &&
	    subtree->child_start)
		return subtree;
	subtree_free(subtree);
	return NULL;
}

struct view *subtree_new(const struct view *view, const struct label_set *roots, struct error *error)
{
	struct growth growth;
	struct view *subtree = NULL;
	if (growth_init(&growth, view->node_count + 1) == 0 && copy_nodes(&growth, view, roots) == 0)
		subtree = subtree_with_room(view, growth.count);
	if (subtree) {
		place_nodes(&growth);
		fill(subtree, &growth);
	} else {
		error_set(error, ERROR_MEMORY, "out of memory");
	}
	growth_release(&growth);
	return subtree;
}

void subtree_free(struct view *subtree)
{
	if (!subtree)
		return;
	free(subtree->parent);
	free(subtree->label);
	free(subtree->hits);
	free(subtree->weight);
	free(subtree->end);
	free(subtree->child);
	free(subtree->child_start);
	free(subtree);
}
