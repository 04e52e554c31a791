#include "analyze/subtree.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash_map.h"

/* The tree while it is built. Nodes are first numbered in the order of discovery, a parent before its children.
 * Then each gets its position in the view's order, in which the nodes of a subtree are contiguous. */
struct growth {
	struct grown {
		uint32_t parent;
		uint32_t label;
		uint64_t hits;
		uint8_t tails;
	} * nodes;
	size_t count, capacity;
	struct hash_map by_edge; /* (parent, label) -> node */
	/* Per node, once all are known. */
	uint64_t *weight;
	uint32_t *order;    /* the nodes, children of one node together and sorted by label */
	uint32_t *size;     /* number of nodes in its subtree, itself included */
	uint32_t *position; /* position in the final order */
	uint32_t *next;     /* position of its next child */
};

static int growth_init(struct growth *growth)
{
	*growth = (struct growth){ 0 };
	hash_map_init(&growth->by_edge);
	if (ARRAY_RESERVE(growth->nodes, growth->capacity, 1) < 0)
		return ERROR_MEMORY;
	growth->nodes[growth->count++] = (struct grown){ .parent = PROFILE_NONE, .label = PROFILE_NONE };
	return 0;
}

static void growth_release(struct growth *growth)
{
	free(growth->nodes);
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
	if (growth->count >= PROFILE_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(growth->nodes, growth->capacity, growth->count + 1) < 0 ||
	    hash_map_put(&growth->by_edge, edge, (uint32_t)growth->count) < 0)
		return ERROR_MEMORY;
	growth->nodes[growth->count] = (struct grown){ .parent = parent, .label = label };
	return (int64_t)growth->count++;
}

/* Makes the child of `parent` for a node of the view, and gives it hits. */
static int64_t grow(struct growth *growth, uint32_t parent, const struct view *view, uint32_t node, uint64_t hits)
{
	int64_t child = child_of(growth, parent, view->label[node]);
	if (child >= 0) {
		growth->nodes[child].hits += hits;
		growth->nodes[child].tails |= view->tails ? view->tails[node] : 0;
	}
	return child;
}

/* Copies the subtree of a node that is not below another root. Parents precede children, so one pass can derive each
 * node's copy from its parent's. */
static int copy_subtree(struct growth *growth, const struct view *view, uint32_t top, uint32_t *copies)
{
	for (uint32_t node = top; node < view->end[top]; node++) {
		uint32_t above = node == top ? 0 : copies[view->parent[node]];
		int64_t copy = grow(growth, above, view, node, view->hits[node]);
		if (copy < 0)
			return (int)copy;
		copies[node] = (uint32_t)copy;
	}
	return 0;
}

/* A node has no copy if neither it nor a node above it has a root label. */
static int copy_nodes(struct growth *growth, const struct view *view, const struct label_set *roots)
{
	uint32_t *copies = calloc(view->node_count, sizeof(*copies));
	int result = copies ? 0 : ERROR_MEMORY;
	for (uint32_t node = 1; node < view->node_count && result == 0;) {
		bool is_root = label_set_has(roots, view->label[node]);
		result = is_root ? copy_subtree(growth, view, node, copies) : 0;
		node = is_root ? view->end[node] : node + 1;
	}
	free(copies);
	return result;
}

/* Adds each stack from its innermost frame outwards. */
static int invert_stacks(struct growth *growth, const struct view *view)
{
	for (uint32_t node = 1; node < view->node_count; node++) {
		int64_t copy = 0;
		for (uint32_t at = node; view->hits[node] > 0 && at != PROFILE_ROOT; at = view->parent[at]) {
			copy = grow(growth, (uint32_t)copy, view, at,
				    view->parent[at] == PROFILE_ROOT ? view->hits[node] : 0);
			if (copy < 0)
				return (int)copy;
		}
	}
	growth->nodes[0].hits = view->hits[0];
	return 0;
}

static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct growth *growth = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct grown *nodes = growth->nodes;
	if (nodes[a].parent != nodes[b].parent)
		return nodes[a].parent < nodes[b].parent ? -1 : 1;
	return nodes[a].label < nodes[b].label ? -1 : 1;
}

/* Adds up weights and sizes from the leaves upwards, then assigns positions from the root downwards: a node has its position
 * before its children get theirs, because its number is smaller. */
static int place_nodes(struct growth *growth)
{
	size_t count = growth->count;
	growth->weight = calloc(count, sizeof(*growth->weight));
	growth->order = calloc(count, sizeof(*growth->order));
	growth->size = calloc(count, sizeof(*growth->size));
	growth->position = calloc(count, sizeof(*growth->position));
	growth->next = calloc(count, sizeof(*growth->next));
	if (!growth->weight || !growth->order || !growth->size || !growth->position || !growth->next)
		return ERROR_MEMORY;
	for (size_t node = count; node-- > 0;) {
		uint32_t parent = growth->nodes[node].parent;
		growth->weight[node] += growth->nodes[node].hits;
		growth->size[node]++;
		if (node == 0)
			break;
		growth->weight[parent] += growth->weight[node];
		growth->size[parent] += growth->size[node];
	}
	growth->next[0] = 1;
	for (uint32_t node = 1; node < growth->count; node++)
		growth->order[node] = node;
	qsort_r(growth->order + 1, growth->count - 1, sizeof(*growth->order), compare_siblings, growth);
	for (size_t i = 1; i < growth->count; i++) {
		uint32_t node = growth->order[i];
		uint32_t *next = &growth->next[growth->nodes[node].parent];
		growth->position[node] = *next;
		*next += growth->size[node];
		growth->next[node] = growth->position[node] + 1;
	}
	return 0;
}

static void fill(struct view *subtree, const struct growth *growth)
{
	size_t count = growth->count;
	for (size_t node = 0; node < count; node++) {
		uint32_t position = growth->position[node];
		const struct grown *grown = &growth->nodes[node];
		subtree->parent[position] = node ? growth->position[grown->parent] : PROFILE_NONE;
		subtree->label[position] = grown->label;
		subtree->hits[position] = grown->hits;
		if (subtree->tails)
			subtree->tails[position] = grown->tails;
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
	subtree->tails = view->tails ? calloc(count, sizeof(*subtree->tails)) : NULL;
	subtree->parent = calloc(count, sizeof(*subtree->parent));
	subtree->label = calloc(count, sizeof(*subtree->label));
	subtree->hits = calloc(count, sizeof(*subtree->hits));
	subtree->weight = calloc(count, sizeof(*subtree->weight));
	subtree->end = calloc(count, sizeof(*subtree->end));
	subtree->child = calloc(count, sizeof(*subtree->child));
	subtree->child_start = calloc(count + 2, sizeof(*subtree->child_start));
	if (subtree->parent && subtree->label && subtree->hits && subtree->weight && subtree->end && subtree->child &&
	    subtree->child_start && (subtree->tails || !view->tails))
		return subtree;
	subtree_free(subtree);
	return NULL;
}

/* Makes the tree of `growth`, if this has no error yet, and releases `growth`. */
static struct view *finish(struct growth *growth, const struct view *view, int status, struct error *error)
{
	struct view *tree = NULL;
	if (status == 0)
		status = place_nodes(growth);
	if (status == 0) {
		tree = subtree_with_room(view, growth->count);
		status = tree ? 0 : ERROR_MEMORY;
	}
	if (tree)
		fill(tree, growth);
	else
		error_set(error, status, status == ERROR_LIMIT ? "the tree has too many nodes" : "out of memory");
	growth_release(growth);
	return tree;
}

struct view *subtree_new(const struct view *view, const struct label_set *roots, struct error *error)
{
	struct growth growth;
	int status = growth_init(&growth);
	return finish(&growth, view, status < 0 ? status : copy_nodes(&growth, view, roots), error);
}

struct view *subtree_inverted(const struct view *view, struct error *error)
{
	struct growth growth;
	int status = growth_init(&growth);
	return finish(&growth, view, status < 0 ? status : invert_stacks(&growth, view), error);
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
	free(subtree->tails);
	free(subtree);
}
