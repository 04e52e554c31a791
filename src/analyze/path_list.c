/* Lists of paths and their order. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path_trie.h"
#include "base/error.h"

void path_list_free(struct path_list *list)
{
	if (!list)
		return;
	free(list->entries);
	free(list->nodes);
	free(list->path);
	free(list);
}

struct path_list *path_list_new(size_t count, size_t longest, struct error *error)
{
	struct path_list *list = calloc(1, sizeof(*list));
	if (list) {
		list->entries = malloc((count + 1) * sizeof(*list->entries));
		list->nodes = malloc((count + 1) * sizeof(*list->nodes));
		list->path = malloc((longest + 1) * sizeof(*list->path));
	}
	if (!list || !list->entries || !list->nodes || !list->path) {
		path_list_free(list);
		error_set(error, ERROR_MEMORY, "out of memory for a list of %zu call paths", count);
		return NULL;
	}
	return list;
}

const uint32_t *path_labels(const struct path_list *list, const struct path_entry *entry)
{
	uint32_t at = list->upward ? 0 : entry->length;
	for (uint32_t node = entry->node; node != TRIE_NONE; node = list->nodes[node].above)
		list->path[list->upward ? at++ : --at] = list->nodes[node].label;
	return list->path;
}

/* Paths are distinct, so equal paths are one node. */
bool path_extends(const struct path_list *list, const struct path_entry *longer, const struct path_entry *path)
{
	return list->nodes[longer->node].above == path->node;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One stable counting pass, by decreasing digit. With `clamp`, all hits >= DIGITS - 1 count as the largest digit. */
static void sort_digit(const struct path_entry *from, struct path_entry *to, size_t count, unsigned shift, bool clamp)
{
	size_t start[DIGITS] = { 0 };
#define DIGIT(entry) \
	(DIGITS - 1 - (clamp && (entry)->hits >= DIGITS ? DIGITS - 1 : (size_t)((entry)->hits >> shift) & (DIGITS - 1)))
	for (size_t i = 0; i < count; i++)
		start[DIGIT(&from[i])]++;
	for (size_t i = 0, sum = 0; i < DIGITS; i++) {
		size_t here = start[i];
		start[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[start[DIGIT(&from[i])]++] = from[i];
#undef DIGIT
}

/* In most results only few entries have many hits. One pass sorts the entries with few hits and moves the others to
 * the front, where further passes sort them. */
int path_list_sort(struct path_list *list)
{
	if (list->count < 2)
		return 0;
	struct path_entry *other = calloc(list->count, sizeof(*other));
	if (!other)
		return ERROR_MEMORY;
	sort_digit(list->entries, other, list->count, 0, true);
	size_t large = 0;
	uint64_t most = 0;
	for (; large < list->count && other[large].hits >= DIGITS - 1; large++)
		most = other[large].hits > most ? other[large].hits : most;
	struct path_entry *scratch = list->entries;
	list->entries = other;
	bool swapped = false;
	struct path_entry *from = other, *to = scratch;
	for (unsigned shift = 0; shift < 64 && most >> shift; shift += DIGIT_BITS) {
		sort_digit(from, to, large, shift, false);
		struct path_entry *held = from;
		from = to;
		to = held;
		swapped = !swapped;
	}
	if (swapped)
		memcpy(other, scratch, large * sizeof(*other));
	free(scratch);
	return 0;
}

/* The state of sorting paths of equal hits. `at` is, for each entry's node, the path node whose label is compared
 * next. */
struct ties {
	const struct path_node *nodes;
	uint32_t *at;
};

/* Entries whose paths are equal in all labels that were compared. */
struct tie {
	struct path_entry *entries;
	size_t count;
};

/* Returns the next label of a path as a number, 0 for the end of the path. */
static uint64_t next_label(const struct ties *ties, const struct path_entry *entry)
{
	uint32_t at = ties->at[entry->node];
	return at == TRIE_NONE ? 0 : ties->nodes[at].label + UINT64_C(1);
}

static void swap_entries(struct path_entry *a, struct path_entry *b)
{
	struct path_entry held = *a;
	*a = *b;
	*b = held;
}

/* Multikey quicksort (Bentley and Sedgewick, SODA 1997): a three-way partition by the next label. The entries of the
 * middle part advance to the label after it. */
static void partition(struct ties *ties, struct tie tie, struct tie parts[3])
{
	uint64_t pivot = next_label(ties, &tie.entries[tie.count / 2]);
	size_t less = 0, next = 0, more = tie.count;
	while (next < more) {
		uint64_t label = next_label(ties, &tie.entries[next]);
		if (label < pivot)
			swap_entries(&tie.entries[less++], &tie.entries[next++]);
		else if (label > pivot)
			swap_entries(&tie.entries[--more], &tie.entries[next]);
		else
			next++;
	}
	parts[0] = (struct tie){ tie.entries, less };
	parts[1] = (struct tie){ tie.entries + less, more - less };
	parts[2] = (struct tie){ tie.entries + more, tie.count - more };
	/* Paths are distinct, so only one can end here, and it is in its final position. */
	for (size_t i = less; i < more && pivot > 0; i++)
		ties->at[tie.entries[i].node] = ties->nodes[ties->at[tie.entries[i].node]].above;
}

static void swap_parts(struct tie *a, struct tie *b)
{
	struct tie other = *a;
	*a = *b;
	*b = other;
}

/* The loop continues with the smallest part, at most a third; the largest of the other two waits longest. So each part
 * that waits is above one of at most half its entries, or above two of a third: fewer than 2 * 64 wait. */
static void sort_tie(struct ties *ties, struct tie tie)
{
	struct tie waiting[2 * 64];
	size_t count = 0;
	for (;;) {
		if (tie.count < 2) {
			if (count == 0)
				return;
			tie = waiting[--count];
			continue;
		}
		struct tie parts[3];
		partition(ties, tie, parts);
		if (parts[0].count < parts[1].count)
			swap_parts(&parts[0], &parts[1]);
		if (parts[1].count < parts[2].count)
			swap_parts(&parts[1], &parts[2]);
		if (parts[0].count < parts[1].count)
			swap_parts(&parts[0], &parts[1]);
		waiting[count++] = parts[0];
		waiting[count++] = parts[1];
		tie = parts[2];
	}
}

/* One stable counting pass, by the first labels of the paths. Returns 0 or ERROR_MEMORY. */
static int sort_first_labels(struct path_list *list)
{
	uint32_t most = 0;
	for (size_t i = 0; i < list->node_count; i++)
		if (list->nodes[i].label > most)
			most = list->nodes[i].label;
	size_t *start = calloc((size_t)most + 2, sizeof(*start));
	struct path_entry *sorted = calloc(list->count + 1, sizeof(*sorted));
	if (!start || !sorted) {
		free(start);
		free(sorted);
		return ERROR_MEMORY;
	}
	for (size_t i = 0; i < list->count; i++)
		start[list->nodes[list->entries[i].node].label + 1]++;
	for (size_t i = 1; i <= most; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < list->count; i++)
		sorted[start[list->nodes[list->entries[i].node].label]++] = list->entries[i];
	free(start);
	free(list->entries);
	list->entries = sorted;
	return 0;
}

static bool are_tied(const struct path_list *list, const struct path_entry *a, const struct path_entry *b)
{
	return a->hits == b->hits && list->nodes[a->node].label == list->nodes[b->node].label;
}

/* Sorts by first label, then by hits; entries that are equal in both are compared by path. */
int path_list_sort_upward(struct path_list *list)
{
	struct ties ties = { .nodes = list->nodes, .at = malloc((list->node_count + 1) * sizeof(*ties.at)) };
	if (!ties.at || sort_first_labels(list) < 0 || path_list_sort(list) < 0) {
		free(ties.at);
		return ERROR_MEMORY;
	}
	for (size_t i = 0; i < list->node_count; i++)
		ties.at[i] = list->nodes[i].above;
	for (size_t i = 0, next; i < list->count; i = next) {
		for (next = i + 1; next < list->count && are_tied(list, &list->entries[next], &list->entries[i]);
		     next++)
			;
		sort_tie(&ties, (struct tie){ &list->entries[i], next - i });
	}
	free(ties.at);
	return 0;
}
