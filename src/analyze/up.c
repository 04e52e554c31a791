/*
 * The upward profile. Each node with a root label that is the innermost root of some samples starts one walk
 * outwards. The state of a walk is the pair (node, Q). Walks continue equally from equal pairs, so a walk ends when
 * it reaches a pair that an earlier walk has reached. That makes recursion cheap: if 10,000 nested f all call the
 * root, each walk adds one step.
 *
 *   start   chain (inner ... outer)            attached to
 *     1     s3 -> s2 -> s1                     nothing: s1 is at the top
 *     2     s5 -> s4                           s2: goes on as s2 -> s1
 *
 * States are numbered outer before inner. The path that a state hits gets the weight of all walks through the state,
 * unless an outer state on the same walks hits the same path. A depth-first pass over the chains, from the outside,
 * therefore locks each path while it is below a state that hit it.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/build.h"
#include "analyze/fold.h"
#include "analyze/path_trie.h"
#include "base/array.h"

#define NO_CHAIN UINT32_MAX
#define NO_STATE UINT32_MAX

struct start {
	uint64_t hits;   /* of the samples whose innermost root is this node */
	bool is_sampled; /* there are such samples */
	uint32_t node;
	uint32_t above; /* the next outer start, or UINT32_MAX */
};

struct state {
	uint64_t weight; /* hits of the walks through it */
	uint32_t entry;  /* the path that it hits; set to TRIE_NONE when it is locked out */
	uint32_t chains; /* the first of the chains that are attached here */
};

struct chain {
	uint32_t first; /* states first (outermost) ... first + count - 1 */
	uint32_t count;
	uint32_t attached; /* the state that it is attached to, or NO_STATE */
	uint32_t next;     /* the next chain that is attached to the same state */
};

/* The last state at a node, and the entry of the Q with which it was reached. */
struct memo {
	uint32_t entry;
	uint32_t state;
};

struct step {
	uint32_t node;
	uint32_t from; /* entry of Q before the step; TRIE_NONE: Q is empty */
	uint32_t hit;  /* entry of label + Q */
};

struct up {
	const struct view *view;
	struct fold fold; /* Q, innermost first */
	struct path_trie trie;
	struct memo *memos; /* per node */
	struct start *starts;
	struct state *states;
	struct chain *chains;
	struct step *steps; /* of one walk */
	size_t start_count, state_count, chain_count;
	size_t start_capacity, state_capacity, chain_capacity, step_capacity;
};

static int find_starts(struct up *up, const struct label_set *roots)
{
	const struct view *view = up->view;
	uint32_t above = UINT32_MAX;
	for (uint32_t node = 1; node < view->node_count; node++) {
		while (above != UINT32_MAX && view->end[up->starts[above].node] <= node)
			above = up->starts[above].above;
		if (label_set_has(roots, view->label[node])) {
			if (above != UINT32_MAX)
				up->starts[above].hits -= view->weight[node];
			if (ARRAY_RESERVE(up->starts, up->start_capacity, up->start_count + 1) < 0)
				return ERROR_MEMORY;
			up->starts[up->start_count] =
				(struct start){ .hits = view->weight[node], .node = node, .above = above };
			above = (uint32_t)up->start_count++;
		}
		if (above != UINT32_MAX && view_has_samples(view, node))
			up->starts[above].is_sampled = true;
	}
	return 0;
}

/* Numbers the steps of one walk, outermost first, as a chain. */
static int add_chain(struct up *up, size_t step_count, uint32_t attached, uint64_t hits)
{
	if (up->state_count + step_count >= NO_STATE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(up->states, up->state_capacity, up->state_count + step_count) < 0 ||
	    ARRAY_RESERVE(up->chains, up->chain_capacity, up->chain_count + 1) < 0)
		return ERROR_MEMORY;
	struct chain chain = { .first = (uint32_t)up->state_count,
			       .count = (uint32_t)step_count,
			       .attached = attached,
			       .next = NO_CHAIN };
	for (size_t i = step_count; i-- > 0;) {
		const struct step *step = &up->steps[i];
		up->memos[step->node] = (struct memo){ .entry = step->from, .state = (uint32_t)up->state_count };
		up->states[up->state_count++] = (struct state){ .entry = step->hit, .chains = NO_CHAIN };
	}
	up->states[up->state_count - 1].weight = hits;
	if (attached != NO_STATE) {
		chain.next = up->states[attached].chains;
		up->states[attached].chains = (uint32_t)up->chain_count;
	}
	up->chains[up->chain_count++] = chain;
	return 0;
}

static int walk_outwards(struct up *up, const struct start *start)
{
	const struct view *view = up->view;
	struct fold *fold = &up->fold;
	uint32_t attached = NO_STATE;
	size_t count = 0;
	bool sole = false; /* the previous step made Q's entry: see path_trie_child */
	fold->length = 0;
	for (uint32_t node = start->node; node != 0; node = view->parent[node]) {
		uint32_t label = view->label[node];
		uint32_t from = fold->length ? fold->at[fold->length - 1].entry : TRIE_NONE;
		if (from != TRIE_NONE && up->memos[node].entry == from) {
			attached = up->memos[node].state;
			break;
		}
		size_t known = up->trie.count;
		int64_t hit = path_trie_child(&up->trie, from == TRIE_NONE ? 0 : from, label, sole);
		if (hit < 0)
			return (int)hit;
		if (ARRAY_RESERVE(up->steps, up->step_capacity, count + 1) < 0)
			return ERROR_MEMORY;
		up->steps[count++] = (struct step){ .node = node, .from = from, .hit = (uint32_t)hit };
		uint32_t depth = fold_find(fold, label);
		sole = depth == FOLD_NONE && up->trie.count > known;
		if (depth == FOLD_NONE)
			fold_append(fold, label, (uint32_t)hit);
		else
			fold->length = depth + 1;
	}
	return add_chain(up, count, attached, start->hits);
}

/* Adds up the walks. A chain is attached to a chain that was made earlier. */
static void sum_weights(struct up *up)
{
	for (size_t i = up->chain_count; i-- > 0;) {
		const struct chain *chain = &up->chains[i];
		uint64_t sum = 0;
		for (uint32_t state = chain->first + chain->count; state-- > chain->first;) {
			sum += up->states[state].weight;
			up->states[state].weight = sum;
		}
		if (chain->attached != NO_STATE)
			up->states[chain->attached].weight += sum;
	}
}

static void hit_state(struct up *up, struct state *state)
{
	struct trie_entry *entry = &up->trie.entries[state->entry];
	if (entry->lock) {
		state->entry = TRIE_NONE;
		return;
	}
	entry->lock = 1;
	entry->hits += state->weight;
}

static void unlock_chain(struct up *up, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct state *state = &up->states[chain->first + i];
		if (state->entry != TRIE_NONE)
			up->trie.entries[state->entry].lock = 0;
	}
}

/* A chain that the pass has entered, on the way from the outside. */
struct passing {
	uint32_t chain;
	uint32_t state;    /* the state that was hit last */
	uint32_t attached; /* the next chain to enter that is attached to the state */
};

static struct passing enter_chain(struct up *up, uint32_t chain)
{
	struct state *state = &up->states[up->chains[chain].first];
	hit_state(up, state);
	return (struct passing){ .chain = chain, .state = up->chains[chain].first, .attached = state->chains };
}

/* Hits the paths of a chain and of all chains that are attached to it, directly or not. */
static int pass_chain(struct up *up, uint32_t outermost, struct passing **stack, size_t *capacity)
{
	size_t count = 0;
	if (ARRAY_RESERVE(*stack, *capacity, 1) < 0)
		return ERROR_MEMORY;
	(*stack)[count++] = enter_chain(up, outermost);
	while (count > 0) {
		struct passing *top = &(*stack)[count - 1];
		const struct chain *chain = &up->chains[top->chain];
		if (top->attached != NO_CHAIN) {
			uint32_t attached = top->attached;
			top->attached = up->chains[attached].next;
			if (ARRAY_RESERVE(*stack, *capacity, count + 1) < 0)
				return ERROR_MEMORY;
			(*stack)[count++] = enter_chain(up, attached);
		} else if (top->state + 1 < chain->first + chain->count) {
			struct state *state = &up->states[++top->state];
			hit_state(up, state);
			top->attached = state->chains;
		} else {
			unlock_chain(up, chain);
			count--;
		}
	}
	return 0;
}

static int hit_paths(struct up *up)
{
	struct passing *stack = NULL;
	size_t capacity = 0;
	int result = 0;
	for (uint32_t i = 0; i < up->chain_count && result == 0; i++)
		if (up->chains[i].attached == NO_STATE)
			result = pass_chain(up, i, &stack, &capacity);
	free(stack);
	return result;
}

static int count_paths(struct up *up, const struct label_set *roots)
{
	const struct view *view = up->view;
	int result = fold_init(&up->fold, view->depth, view->label_count);
	if (result == 0)
		result = path_trie_init(&up->trie);
	up->memos = malloc(view->node_count * sizeof(*up->memos));
	if (result < 0 || !up->memos)
		return ERROR_MEMORY;
	memset(up->memos, 0xff, view->node_count * sizeof(*up->memos));
	result = find_starts(up, roots);
	for (size_t i = 0; i < up->start_count && result == 0; i++)
		if (up->starts[i].is_sampled)
			result = walk_outwards(up, &up->starts[i]);
	if (result < 0)
		return result;
	sum_weights(up);
	return hit_paths(up);
}

struct path_list *analyze_up(const struct view *view, const struct label_set *roots, struct error *error)
{
	if (label_set_check(view, roots, error) < 0)
		return NULL;
	struct up up = { .view = view };
	int result = count_paths(&up, roots);
	free(up.memos);
	free(up.starts);
	free(up.states);
	free(up.chains);
	free(up.steps);
	fold_release(&up.fold);
	struct path_list *list = NULL;
	if (result == 0)
		list = path_trie_list_up(&up.trie, error);
	else
		error_set(error, result, "cannot make the upward profile: %s", error_text(result));
	path_trie_release(&up.trie);
	return list;
}
