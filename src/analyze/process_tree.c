#include "analyze/process_tree.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash_map.h"

struct numbered {
	uint32_t pid, index;
	uint64_t start_ns;
};

static int compare_numbered(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Returns the index of the last process of the number that began before the child, or at the same time; or PROFILE_NONE. */
static uint32_t find_parent(const struct numbered *sorted, size_t count, const struct profile_process *child)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct numbered *at = &sorted[middle];
		bool precedes =
			at->pid != child->parent_pid ? at->pid < child->parent_pid : at->start_ns <= child->start_ns;
		if (precedes)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && sorted[low - 1].pid == child->parent_pid ? sorted[low - 1].index : PROFILE_NONE;
}

enum state { NOT_SEEN, IN_CHAIN, PLACED };

/* Places a process and its ancestors that are not placed yet. Room for all processes follows the `placed` elements of the order:
 * the chain is collected there, and then reversed. Returns how many are placed. */
static size_t place(struct process_tree *tree, unsigned char *states, uint32_t process, size_t placed)
{
	size_t end = placed;
	uint32_t at = process;
	while (at != PROFILE_NONE && states[at] == NOT_SEEN) {
		states[at] = IN_CHAIN;
		tree->order[end++] = at;
		at = tree->parents[at];
	}
	if (at != PROFILE_NONE && states[at] == IN_CHAIN)
		tree->parents[tree->order[end - 1]] = PROFILE_NONE;
	for (size_t i = placed, k = end; i < k--; i++) {
		uint32_t first = tree->order[i];
		tree->order[i] = tree->order[k];
		tree->order[k] = first;
	}
	for (size_t i = placed; i < end; i++)
		states[tree->order[i]] = PLACED;
	return end;
}

int process_tree_make(struct process_tree *tree, const struct profile *profile)
{
	uint32_t count = (uint32_t)profile->process_count;
	struct numbered *sorted = calloc(count + (size_t)1, sizeof(*sorted));
	unsigned char *states = calloc(count + (size_t)1, sizeof(*states));
	*tree = (struct process_tree){ .parents = calloc(count + (size_t)1, sizeof(*tree->parents)),
				       .order = calloc(count + (size_t)1, sizeof(*tree->order)) };
	int status = sorted && states && tree->parents && tree->order ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < count && status == 0; i++)
		sorted[i] = (struct numbered){ profile->processes[i].pid, i, profile->processes[i].start_ns };
	if (status == 0)
		qsort(sorted, count, sizeof(*sorted), compare_numbered);
	for (uint32_t i = 0; i < count && status == 0; i++) {
		const struct profile_process *process = &profile->processes[i];
		tree->parents[i] = process->parent_pid ? find_parent(sorted, count, process) : PROFILE_NONE;
	}
	size_t placed = 0;
	for (uint32_t i = 0; i < count && status == 0; i++)
		placed = place(tree, states, i, placed);
	free(sorted);
	free(states);
	if (status)
		process_tree_release(tree);
	return status;
}

void process_tree_release(struct process_tree *tree)
{
	free(tree->parents);
	free(tree->order);
	*tree = (struct process_tree){ 0 };
}

/* --- hits along the tree --- */

/* One row: processes of one name with one parent. */
struct group {
	struct share share;
	uint32_t parent; /* a smaller index; PROFILE_NONE: none */
	uint32_t name;   /* string */
};

struct groups {
	struct group *items;
	size_t count, capacity;
	uint32_t *of_process; /* [process_count] */
};

/* Adds a process, whose parent has been added, to its group. Returns 0 or a negative error. */
static int join_group(struct groups *groups, struct hash_map *by_edge, const struct profile *profile, uint32_t process,
		      uint32_t parent)
{
	uint32_t name = profile->processes[process].name;
	uint32_t above = parent == PROFILE_NONE ? PROFILE_NONE : groups->of_process[parent];
	bool is_new = false;
	int64_t found = above;
	if (above == PROFILE_NONE || groups->items[above].name != name)
		found = HASH_MAP_ITEM(by_edge, (uint64_t)(above + 1) << 32 | name, groups->items, groups->capacity,
				      groups->count, &is_new);
	if (found < 0)
		return (int)found;
	struct group *group = &groups->items[found];
	if (is_new)
		*group = (struct group){
			.share = { .owner = process,
				   .depth = above == PROFILE_NONE ? 0 : groups->items[above].share.depth + 1 },
			.parent = above,
			.name = name,
		};
	groups->of_process[process] = (uint32_t)found;
	group->share.owner = process < group->share.owner ? process : group->share.owner;
	group->share.members++;
	return 0;
}

static int make_groups(struct groups *groups, const struct profile *profile)
{
	struct process_tree tree;
	struct hash_map by_edge;
	int status = process_tree_make(&tree, profile);
	hash_map_init(&by_edge);
	groups->of_process = calloc(profile->process_count + 1, sizeof(*groups->of_process));
	if (!groups->of_process)
		status = ERROR_MEMORY;
	for (size_t i = 0; i < profile->process_count && status == 0; i++)
		status = join_group(groups, &by_edge, profile, tree.order[i], tree.parents[tree.order[i]]);
	hash_map_release(&by_edge);
	process_tree_release(&tree);
	return status;
}

/* Charges the hits of each process to its group, and the hits of each group to all groups above it. */
static void charge_groups(struct groups *groups, const uint64_t *hits, size_t process_count)
{
	for (size_t i = 0; i < process_count; i++)
		groups->items[groups->of_process[i]].share.own += hits[i];
	for (size_t i = groups->count; i-- > 0;) {
		struct group *group = &groups->items[i];
		group->share.hits += group->share.own;
		if (group->parent != PROFILE_NONE)
			groups->items[group->parent].share.hits += group->share.hits;
	}
}

/* Sorts by parent, and the groups of one parent in the reverse order of their rows. */
static int compare_groups(const void *left, const void *right)
{
	const struct group *a = *(const struct group *const *)left, *b = *(const struct group *const *)right;
	uint32_t a_parent = a->parent + 1, b_parent = b->parent + 1; /* 0: none */
	if (a_parent != b_parent)
		return a_parent < b_parent ? -1 : 1;
	if (a->share.hits != b->share.hits)
		return a->share.hits < b->share.hits ? -1 : 1;
	return a->share.owner > b->share.owner ? -1 : a->share.owner < b->share.owner;
}

/* Writes the rows of all groups that have hits, each group before the groups below it. `sorted` and `stack` have room for all groups,
 * `first` for one element more than there are groups. Returns the number of rows. */
static size_t write_rows(const struct groups *groups, const struct group **sorted, const struct group **stack,
			 size_t *first, struct share *rows)
{
	size_t count = 0, depth = 0, next = 0;
	for (size_t i = 0; i < groups->count; i++)
		sorted[i] = &groups->items[i];
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers */
	qsort(sorted, groups->count, sizeof(*sorted), compare_groups);
	for (size_t parent = 0; parent <= groups->count; parent++) {
		while (next < groups->count && sorted[next]->parent + 1 < parent)
			next++;
		first[parent] = next;
	}
	for (size_t i = first[0]; i < groups->count && sorted[i]->parent == PROFILE_NONE; i++)
		stack[depth++] = sorted[i];
	while (depth > 0) {
		const struct group *group = stack[--depth];
		uint32_t index = (uint32_t)(group - groups->items);
		if (group->share.hits > 0)
			rows[count++] = group->share;
		for (size_t i = first[index + 1]; i < groups->count && sorted[i]->parent == index; i++)
			stack[depth++] = sorted[i];
	}
	return count;
}

struct share *process_tree_shares(const struct profile *profile, const uint64_t *hits, size_t *count)
{
	struct groups groups = { 0 };
	int status = make_groups(&groups, profile);
	struct share *rows = calloc(groups.count + 1, sizeof(*rows));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers */
	const struct group **sorted = calloc(2 * groups.count + 1, sizeof(*sorted));
	size_t *first = calloc(groups.count + 1, sizeof(*first));
	if (status == 0 && rows && sorted && first) {
		charge_groups(&groups, hits, profile->process_count);
		*count = write_rows(&groups, sorted, sorted + groups.count, first, rows);
		uint64_t without = hits[profile->process_count];
		if (without)
			rows[(*count)++] =
				(struct share){ PROFILE_NONE, .members = 1, .own = without, .hits = without };
	} else {
		free(rows);
		rows = NULL;
	}
	free(first);
	free(sorted);
	free(groups.items);
	free(groups.of_process);
	return rows;
}

int process_tree_choose(const struct profile *profile, bool *chosen)
{
	struct groups groups = { 0 };
	int status = make_groups(&groups, profile);
	bool *is_chosen = calloc(groups.count + 1, sizeof(*is_chosen));
	if (!is_chosen)
		status = ERROR_MEMORY;
	for (size_t i = 0; i < profile->process_count && status == 0; i++)
		is_chosen[groups.of_process[i]] |= chosen[i];
	for (size_t i = 0; i < groups.count && status == 0; i++)
		is_chosen[i] |= groups.items[i].parent != PROFILE_NONE && is_chosen[groups.items[i].parent];
	for (size_t i = 0; i < profile->process_count && status == 0; i++)
		chosen[i] = is_chosen[groups.of_process[i]];
	free(is_chosen);
	free(groups.items);
	free(groups.of_process);
	return status;
}
