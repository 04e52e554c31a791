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
	free(list->labels);
	free(list);
}

struct path_list *path_list_new(size_t entries, size_t labels, struct error *error)
{
	struct path_list *list = calloc(1, sizeof(*list));
	if (list) {
		list->entries = malloc((entries + 1) * sizeof(*list->entries));
		list->labels = malloc((labels + 1) * sizeof(*list->labels));
	}
	if (!list || !list->entries || !list->labels) {
		path_list_free(list);
		error_set(error, ERROR_MEMORY, "out of memory for a list of %zu call paths", entries);
		return NULL;
	}
	return list;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One stable counting pass: by decreasing digit. */
static void sort_digit(const struct path_entry *from, struct path_entry *to, size_t count, unsigned shift, bool clamp)
{
	size_t start[DIGITS] = { 0 };
#define DIGIT(entry) \
	(DIGITS - 1 - \
	 (clamp && (entry)->hits >= DIGITS ? DIGITS - 1 : (size_t)((entry)->hits >> shift) & (DIGITS - 1)))
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

/* In most results all but a few entries have few hits: one pass puts those in
 * place and the many-hit ones in front, where further passes sort them. */
int path_list_sort(struct path_list *list)
{
	if (list->count < 2)
		return 0;
	struct path_entry *other = malloc(list->count * sizeof(*other));
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

/* The label at a place of a path, as a number that puts the end first. */
static uint64_t label_at(const struct path_list *list, const struct path_entry *entry, size_t place)
{
	return place < entry->length ? list->labels[entry->first + place] + UINT64_C(1) : 0;
}

struct tie {
	struct path_entry *entries;
	size_t count;
	size_t place; /* the paths agree before it */
};

static void swap_entries(struct path_entry *a, struct path_entry *b)
{
	struct path_entry held = *a;
	*a = *b;
	*b = held;
}

/* Multikey quicksort (Bentley and Sedgewick, SODA 1997): three-way partition by
 * the label at one place; the middle part goes on with the next place. */
static void partition(const struct path_list *list, struct tie tie, struct tie parts[3])
{
	uint64_t pivot = label_at(list, &tie.entries[tie.count / 2], tie.place);
	size_t less = 0, next = 0, more = tie.count;
	while (next < more) {
		uint64_t label = label_at(list, &tie.entries[next], tie.place);
		if (label < pivot)
			swap_entries(&tie.entries[less++], &tie.entries[next++]);
		else if (label > pivot)
			swap_entries(&tie.entries[--more], &tie.entries[next]);
		else
			next++;
	}
	parts[0] = (struct tie){ tie.entries, less, tie.place };
	/* A pivot that is the end of its path is the only path that ends there. */
	parts[1] = (struct tie){ tie.entries + less, pivot == 0 ? 0 : more - less, tie.place + 1 };
	parts[2] = (struct tie){ tie.entries + more, tie.count - more, tie.place };
}

/* The largest part is sorted in the loop, so that the two that wait are at most
 * half of it each and the stack stays below 2 x 64 places. */
static void sort_tie(const struct path_list *list, struct tie tie)
{
	struct tie waiting[2 * 64 + 2];
	size_t count = 0;
	for (;;) {
		if (tie.count < 2) {
			if (count == 0)
				return;
			tie = waiting[--count];
			continue;
		}
		struct tie parts[3];
		partition(list, tie, parts);
		size_t largest = parts[0].count > parts[1].count ? 0 : 1;
		if (parts[2].count > parts[largest].count)
			largest = 2;
		for (size_t i = 0; i < 3; i++)
			if (i != largest && parts[i].count > 1)
				waiting[count++] = parts[i];
		tie = parts[largest];
	}
}

int path_list_sort_paths(struct path_list *list)
{
	int result = path_list_sort(list);
	if (result < 0)
		return result;
	for (size_t i = 0, next; i < list->count; i = next) {
		for (next = i + 1; next < list->count && list->entries[next].hits == list->entries[i].hits; next++)
			;
		sort_tie(list, (struct tie){ &list->entries[i], next - i, 0 });
	}
	return 0;
}
