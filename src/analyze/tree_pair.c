#include "analyze/tree_pair.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/diff_test.h"
#include "analyze/identity.h"
#include "base/array.h"

/* A path of one view. */
struct place {
	uint32_t identity;
	uint32_t parent; /* in the merged tree */
	uint32_t view;
	uint32_t node; /* in the view */
	uint32_t depth;
};

struct merging {
	struct tree_pair *pair;
	const struct view *const *views;
	const size_t *counts; /* of both sides */
	size_t view_count;
	struct identities identities;
	uint64_t *hits; /* per node of the tree and view */
	size_t hits_capacity;
	struct place *
		waiting; /* a stack: the next place in depth-first order is the last; places of one path lie together */
	size_t waiting_count, waiting_capacity;
};

static enum diff_sides side_of(const struct merging *merging, size_t view)
{
	return view < merging->counts[DIFF_A] ? DIFF_A : DIFF_B;
}

/* The last one comes first: the smallest identity. */
static int by_identity(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	return (a->identity < b->identity) - (a->identity > b->identity);
}

/* Adds the children of a node of one view to the stack. */
static int add_children(struct merging *merging, const struct place *place, uint32_t merged)
{
	const struct view *view = merging->views[place->view];
	size_t count = view->child_start[place->node + 1] - view->child_start[place->node];
	if (ARRAY_RESERVE(merging->waiting, merging->waiting_capacity, merging->waiting_count + count) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		uint32_t child = view->child[view->child_start[place->node] + i];
		merging->waiting[merging->waiting_count++] = (struct place){
			.identity = merging->identities.of_label[place->view][view->label[child]],
			.parent = merged,
			.view = place->view,
			.node = child,
			.depth = place->depth + 1,
		};
	}
	return 0;
}

/* Appends a node for the path of the last place, and replaces all places of this path by those of the children. `taken` has room for
 * a place of each view. */
static int visit(struct merging *merging, struct place *taken)
{
	struct view *tree = &merging->pair->tree;
	const struct place first = merging->waiting[merging->waiting_count - 1];
	uint32_t merged = (uint32_t)tree->node_count;
	size_t count = 0, views = merging->view_count;
	if (ARRAY_RESERVE(merging->hits, merging->hits_capacity, (merged + (size_t)1) * views) < 0)
		return ERROR_MEMORY;
	memset(merging->hits + merged * views, 0, views * sizeof(*merging->hits));
	tree->node_count++;
	tree->parent[merged] = first.parent;
	tree->label[merged] = first.identity;
	tree->depth = first.depth > tree->depth ? first.depth : tree->depth;
	while (merging->waiting_count > 0) {
		const struct place *place = &merging->waiting[merging->waiting_count - 1];
		if (place->parent != first.parent || place->identity != first.identity)
			break;
		merging->hits[merged * views + place->view] = merging->views[place->view]->weight[place->node];
		taken[count++] = *place;
		merging->waiting_count--;
	}
	size_t from = merging->waiting_count;
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = add_children(merging, &taken[i], merged);
	if (merging->waiting_count > from) /* `waiting` may be NULL */
		qsort(merging->waiting + from, merging->waiting_count - from, sizeof(*merging->waiting), by_identity);
	return status;
}

/* Appends all nodes in depth-first order. */
static int visit_all(struct merging *merging)
{
	struct place *taken = calloc(merging->view_count, sizeof(*taken));
	int status = taken ? 0 : ERROR_MEMORY;
	if (status == 0)
		status = ARRAY_RESERVE(merging->waiting, merging->waiting_capacity, merging->view_count);
	for (uint32_t i = 0; i < merging->view_count && status == 0; i++)
		merging->waiting[merging->waiting_count++] =
			(struct place){ .identity = PROFILE_NONE, .parent = PROFILE_NONE, .view = i };
	while (status == 0 && merging->waiting_count > 0)
		status = visit(merging, taken);
	free(taken);
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
	for (size_t at = merging->view_count; at-- > 0;) {
		const struct view *view = merging->views[at];
		for (size_t i = 0; i < view->label_count; i++) {
			uint32_t identity = merging->identities.of_label[at][i];
			struct view_label *label = &tree->labels[identity];
			*label = view->labels[i];
			label->text = merging->identities.names[identity];
			if (view->profile != merging->views[0]->profile) /* numbers of another profile */
				label->function = label->module = label->frame = PROFILE_NONE;
		}
	}
	return 0;
}

static int allocate(struct merging *merging)
{
	struct view *tree = &merging->pair->tree;
	size_t most = 0;
	for (size_t i = 0; i < merging->view_count; i++)
		most += merging->views[i]->node_count;
	if (most >= PROFILE_NONE)
		return ERROR_LIMIT;
	tree->parent = calloc(most, sizeof(*tree->parent));
	tree->label = calloc(most, sizeof(*tree->label));
	tree->end = calloc(most, sizeof(*tree->end));
	tree->child = calloc(most, sizeof(*tree->child));
	tree->child_start = calloc(most + 1, sizeof(*tree->child_start));
	return tree->parent && tree->label && tree->end && tree->child && tree->child_start ? 0 : ERROR_MEMORY;
}

/* Makes the amounts of both sides. */
static int make_amounts(struct merging *merging)
{
	struct tree_pair *pair = merging->pair;
	size_t views = merging->view_count;
	for (int side = 0; side < DIFF_SIDES; side++) {
		pair->gticks[side] = calloc(pair->tree.node_count, sizeof(*pair->gticks[side]));
		if (!pair->gticks[side])
			return ERROR_MEMORY;
	}
	for (size_t i = 0; i < views; i++) {
		enum diff_sides side = side_of(merging, i);
		double interval = (double)merging->views[i]->resource->interval;
		for (size_t node = 0; node < pair->tree.node_count; node++)
			pair->gticks[side][node] += (double)merging->hits[node * views + i] * interval;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (size_t node = 0; node < pair->tree.node_count; node++)
			pair->gticks[side][node] /= (double)merging->counts[side];
		pair->total[side] = pair->gticks[side][0];
	}
	return 0;
}

/* Makes the weights of the layout of the larger: whole numbers, because boxes fill those above them. Children stand behind
 * their parents. */
static void lay_out(struct merging *merging)
{
	struct tree_pair *pair = merging->pair;
	struct view *tree = &pair->tree;
	size_t views = merging->view_count;
	pair->scale = merging->counts[DIFF_A] * merging->counts[DIFF_B];
	for (size_t node = tree->node_count; node-- > 0;) {
		uint64_t own[DIFF_SIDES] = { 0 }, below = 0;
		for (size_t i = 0; i < views; i++) {
			enum diff_sides side = side_of(merging, i);
			uint64_t hits = merging->hits[node * views + i];
			for (uint32_t k = tree->child_start[node]; k < tree->child_start[node + 1]; k++)
				hits -= merging->hits[tree->child[k] * views + i];
			own[side] +=
				hits * merging->views[i]->resource->interval * merging->counts[DIFF_A + DIFF_B - side];
		}
		for (uint32_t k = tree->child_start[node]; k < tree->child_start[node + 1]; k++)
			below += pair->weight[tree->child[k]];
		pair->weight[node] = below + (own[DIFF_A] > own[DIFF_B] ? own[DIFF_A] : own[DIFF_B]);
	}
	tree->total = pair->weight[0];
}

static int make_weights(struct merging *merging, enum tree_pair_layout layout)
{
	struct tree_pair *pair = merging->pair;
	pair->scale = 1;
	pair->weight = calloc(pair->tree.node_count, sizeof(*pair->weight));
	if (!pair->weight)
		return ERROR_MEMORY;
	pair->tree.weight = pair->weight;
	if (layout == TREE_PAIR_LARGER)
		lay_out(merging);
	else
		for (size_t node = 0; node < pair->tree.node_count; node++)
			pair->weight[node] = merging->hits[node * merging->view_count];
	return 0;
}

/* Marks the nodes whose amounts differ, as analyze_diff marks the entries of a list. */
static int mark(struct merging *merging, double spread)
{
	struct tree_pair *pair = merging->pair;
	size_t count = pair->tree.node_count;
	struct diff_list list = { .entries = calloc(count, sizeof(*list.entries)),
				  .views = (const struct view **)merging->views,
				  .runs = { merging->counts[DIFF_A], merging->counts[DIFF_B] },
				  .spread = spread };
	pair->significant = calloc(count, sizeof(*pair->significant));
	int status = list.entries && pair->significant ? 0 : ERROR_MEMORY;
	for (uint32_t i = 1; i < count && status == 0; i++)
		list.entries[list.count++].path.node = i;
	if (status == 0)
		status = diff_test(&list, merging->hits);
	if (status == 0)
		status = diff_mark(&(struct diff_list *){ &list }, 1, DIFF_CHANCE);
	for (size_t i = 0; i < list.count && status == 0; i++)
		pair->significant[list.entries[i].path.node] = list.entries[i].significant;
	free(list.entries);
	return status;
}

static const char *resource_of(const struct view *view)
{
	return profile_string(view->profile, view->resource->name);
}

static int merge(struct merging *merging, enum tree_pair_layout layout, double spread)
{
	struct view *tree = &merging->pair->tree;
	const struct view *const *views = merging->views;
	int status = allocate(merging);
	if (status == 0)
		status = make_labels(merging);
	if (status == 0)
		status = visit_all(merging);
	if (status < 0)
		return status;
	link_nodes(tree);
	tree->profile = views[0]->profile;
	tree->resource = views[0]->resource;
	tree->total = views[0]->total;
	tree->samples = views[0]->samples;
	tree->independent = views[0]->independent;
	status = make_amounts(merging);
	if (status == 0)
		status = make_weights(merging, layout);
	bool is_one_resource = strcmp(resource_of(views[0]), resource_of(views[merging->counts[DIFF_A]])) == 0;
	return status == 0 && is_one_resource ? mark(merging, spread) : status;
}

struct tree_pair *tree_pair_new(const struct view *const *views, const size_t counts[DIFF_SIDES],
				enum tree_pair_layout layout, double spread, struct error *error)
{
	struct merging merging = { .pair = calloc(1, sizeof(struct tree_pair)),
				   .views = views,
				   .counts = counts,
				   .view_count = counts[DIFF_A] + counts[DIFF_B] };
	struct strings *texts = calloc(1, sizeof(*texts));
	bool has_texts = texts && strings_init(texts) == 0;
	int status = merging.pair && has_texts ? 0 : ERROR_MEMORY;
	if (status == 0)
		status = identities_init(&merging.identities, views, merging.view_count, texts);
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
	free(merging.hits);
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
	free(pair->weight);
	free(pair->gticks[DIFF_A]);
	free(pair->gticks[DIFF_B]);
	free(pair->significant);
	free(pair);
}
