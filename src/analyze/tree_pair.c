#include "analyze/tree_pair.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/diff_test.h"
#include "analyze/identity.h"
#include "base/array.h"

/* A path of one view or of both. */
struct place {
	uint32_t identity;
	uint32_t parent;  /* in the merged tree */
	uint32_t node[2]; /* in the views; PROFILE_NONE: it has no such path */
	uint32_t depth;
};

struct merging {
	struct tree_pair *pair;
	const struct view *const *views;
	struct identities identities;
	struct place *waiting; /* a stack: the next place in depth-first order is the last */
	size_t waiting_count, waiting_capacity;
};

static int by_identity(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	return (a->identity > b->identity) - (a->identity < b->identity);
}

/* Adds the children of a node of one view to the stack. */
static int add_children(struct merging *merging, const struct place *place, uint32_t merged, int side)
{
	const struct view *view = merging->views[side];
	uint32_t node = place->node[side];
	if (node == PROFILE_NONE)
		return 0;
	size_t count = view->child_start[node + 1] - view->child_start[node];
	if (ARRAY_RESERVE(merging->waiting, merging->waiting_capacity, merging->waiting_count + count) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		uint32_t child = view->child[view->child_start[node] + i];
		struct place *next = &merging->waiting[merging->waiting_count++];
		*next = (struct place){ .identity = merging->identities.of_label[side][view->label[child]],
					.parent = merged,
					.node = { PROFILE_NONE, PROFILE_NONE },
					.depth = place->depth + 1 };
		next->node[side] = child;
	}
	return 0;
}

/* Joins the places of equal identity among those from number `from` on, and sorts them: the last one comes first. */
static void join(struct merging *merging, size_t from)
{
	size_t count = merging->waiting_count - from, kept = 0;
	if (count == 0)
		return; /* `waiting` may be NULL */
	struct place *places = merging->waiting + from;
	qsort(places, count, sizeof(*places), by_identity);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && places[kept - 1].identity == places[i].identity) {
			for (int side = 0; side < 2; side++)
				if (places[i].node[side] != PROFILE_NONE)
					places[kept - 1].node[side] = places[i].node[side];
		} else {
			places[kept++] = places[i];
		}
	}
	for (size_t i = 0; i < kept / 2; i++) {
		struct place swap = places[i];
		places[i] = places[kept - 1 - i];
		places[kept - 1 - i] = swap;
	}
	merging->waiting_count = from + kept;
}

/* Appends a node, and puts its children on the stack. */
static int visit(struct merging *merging, const struct place *place)
{
	struct tree_pair *pair = merging->pair;
	struct view *tree = &pair->tree;
	uint32_t merged = (uint32_t)tree->node_count++;
	tree->parent[merged] = place->parent;
	tree->label[merged] = place->identity;
	tree->depth = place->depth > tree->depth ? place->depth : tree->depth;
	for (int side = 0; side < 2; side++)
		pair->weight[side][merged] =
			place->node[side] == PROFILE_NONE ? 0 : merging->views[side]->weight[place->node[side]];
	size_t from = merging->waiting_count;
	int status = 0;
	for (int side = 0; side < 2 && status == 0; side++)
		status = add_children(merging, place, merged, side);
	join(merging, from);
	return status;
}

/* Fills in the members of the tree that follow from parents in depth-first order. */
static void link_nodes(struct view *tree)
{
	for (size_t i = 1; i < tree->node_count; i++)
		tree->child_start[tree->parent[i] + 1]++;
	for (size_t i = 0; i < tree->node_count; i++)
		tree->child_start[i + 1] += tree->child_start[i];
	for (uint32_t i = 1; i < tree->node_count; i++)
		tree->child[tree->child_start[tree->parent[i]]++] = i;
	for (size_t i = tree->node_count; i > 0; i--)
		tree->child_start[i] = tree->child_start[i - 1];
	tree->child_start[0] = 0;
	for (size_t i = tree->node_count; i-- > 0;) {
		if (tree->end[i] < i + 1)
			tree->end[i] = (uint32_t)i + 1;
		if (i > 0 && tree->end[tree->parent[i]] < tree->end[i])
			tree->end[tree->parent[i]] = tree->end[i];
	}
}

static int make_labels(struct merging *merging)
{
	struct view *tree = &merging->pair->tree;
	tree->label_count = merging->identities.count;
	tree->labels = calloc(tree->label_count + 1, sizeof(*tree->labels));
	if (!tree->labels)
		return ERROR_MEMORY;
	for (int side = 1; side >= 0; side--) {
		const struct view *view = merging->views[side];
		for (size_t i = 0; i < view->label_count; i++) {
			uint32_t identity = merging->identities.of_label[side][i];
			struct view_label *label = &tree->labels[identity];
			*label = view->labels[i];
			label->text = merging->identities.names[identity];
		}
	}
	return 0;
}

static int allocate(struct merging *merging)
{
	struct tree_pair *pair = merging->pair;
	struct view *tree = &pair->tree;
	size_t most = merging->views[0]->node_count + merging->views[1]->node_count;
	if (most >= PROFILE_NONE)
		return ERROR_LIMIT;
	tree->parent = calloc(most, sizeof(*tree->parent));
	tree->label = calloc(most, sizeof(*tree->label));
	tree->end = calloc(most, sizeof(*tree->end));
	tree->child = calloc(most, sizeof(*tree->child));
	tree->child_start = calloc(most + 1, sizeof(*tree->child_start));
	pair->weight[0] = calloc(most, sizeof(*pair->weight[0]));
	pair->weight[1] = calloc(most, sizeof(*pair->weight[1]));
	bool has_all = tree->parent && tree->label && tree->end && tree->child && tree->child_start &&
		       pair->weight[0] && pair->weight[1];
	return has_all ? 0 : ERROR_MEMORY;
}

/* Makes the weights of the layout of the larger. Children stand behind their parents. */
static int lay_out(struct tree_pair *pair)
{
	struct view *tree = &pair->tree;
	pair->larger = calloc(tree->node_count, sizeof(*pair->larger));
	if (!pair->larger)
		return ERROR_MEMORY;
	for (size_t node = tree->node_count; node-- > 0;) {
		uint64_t own[2] = { pair->weight[0][node], pair->weight[1][node] }, below = 0;
		for (uint32_t i = tree->child_start[node]; i < tree->child_start[node + 1]; i++) {
			uint32_t child = tree->child[i];
			below += pair->larger[child];
			for (int side = 0; side < 2; side++)
				own[side] -= pair->weight[side][child];
		}
		for (int side = 0; side < 2; side++)
			own[side] *= pair->interval[side];
		pair->larger[node] = below + (own[0] > own[1] ? own[0] : own[1]);
	}
	tree->weight = pair->larger;
	tree->total = pair->larger[0];
	return 0;
}

/* Marks the nodes whose amounts differ, as analyze_diff marks the entries of a list. */
static int mark(struct tree_pair *pair, const struct view *const views[2], double spread)
{
	size_t count = pair->tree.node_count;
	struct diff_list list = { .entries = calloc(count, sizeof(*list.entries)),
				  .views = (const struct view **)views,
				  .runs = { 1, 1 },
				  .spread = spread };
	uint64_t *hits = calloc(count, 2 * sizeof(*hits));
	pair->significant = calloc(count, sizeof(*pair->significant));
	int status = list.entries && hits && pair->significant ? 0 : ERROR_MEMORY;
	if (status == 0) {
		for (uint32_t i = 1; i < count; i++) {
			list.entries[list.count++].path.node = i;
			hits[2 * i] = pair->weight[0][i];
			hits[2 * i + 1] = pair->weight[1][i];
		}
		status = diff_test(&list, hits);
	}
	if (status == 0)
		status = diff_mark(&(struct diff_list *){ &list }, 1, DIFF_CHANCE);
	for (size_t i = 0; i < list.count && status == 0; i++)
		pair->significant[list.entries[i].path.node] = list.entries[i].significant;
	free(list.entries);
	free(hits);
	return status;
}

static bool is_one_resource(const struct view *const views[2])
{
	return strcmp(profile_string(views[0]->profile, views[0]->resource->name),
		      profile_string(views[1]->profile, views[1]->resource->name)) == 0;
}

static int merge(struct merging *merging, enum tree_pair_layout layout, double spread)
{
	struct tree_pair *pair = merging->pair;
	const struct view *const *views = merging->views;
	int status = allocate(merging);
	if (status == 0)
		status = make_labels(merging);
	const struct place root = { .identity = PROFILE_NONE, .parent = PROFILE_NONE };
	if (status == 0)
		status = visit(merging, &root);
	while (status == 0 && merging->waiting_count > 0) {
		struct place place = merging->waiting[--merging->waiting_count];
		status = visit(merging, &place);
	}
	if (status < 0)
		return status;
	link_nodes(&pair->tree);
	for (int side = 0; side < 2; side++) {
		pair->total[side] = views[side]->total;
		pair->interval[side] = views[side]->resource->interval;
	}
	pair->tree.profile = views[0]->profile;
	pair->tree.resource = views[0]->resource;
	pair->tree.total = views[0]->total;
	pair->tree.samples = views[0]->samples;
	pair->tree.independent = views[0]->independent;
	pair->tree.weight = pair->weight[0];
	if (layout == TREE_PAIR_LARGER)
		status = lay_out(pair);
	return status == 0 && is_one_resource(views) ? mark(pair, views, spread) : status;
}

struct tree_pair *tree_pair_new(const struct view *const views[2], enum tree_pair_layout layout, double spread,
				struct error *error)
{
	struct merging merging = { .pair = calloc(1, sizeof(struct tree_pair)), .views = views };
	struct strings *texts = calloc(1, sizeof(*texts));
	bool has_texts = texts && strings_init(texts) == 0;
	int status = merging.pair && has_texts ? 0 : ERROR_MEMORY;
	if (status == 0)
		status = identities_init(&merging.identities, views, 2, texts);
	if (status == 0) {
		merging.pair->tree.texts = texts;
		status = merge(&merging, layout, spread);
		identities_release(&merging.identities);
	} else {
		if (has_texts)
			strings_release(texts);
		free(texts);
	}
	free(merging.waiting);
	if (status == 0)
		return merging.pair;
	tree_pair_free(merging.pair);
	error_set(error, status, "cannot compare the trees: %s", error_text(status));
	return NULL;
}

void tree_pair_free(struct tree_pair *pair)
{
	if (!pair)
		return;
	struct view *tree = &pair->tree;
	if (tree->texts) {
		strings_release(tree->texts);
		free(tree->texts);
	}
	free(tree->labels);
	free(tree->parent);
	free(tree->label);
	free(tree->end);
	free(tree->child);
	free(tree->child_start);
	free(pair->weight[0]);
	free(pair->weight[1]);
	free(pair->larger);
	free(pair->significant);
	free(pair);
}
