/*
 * A sort for the call path main;uniquify_db;qsort of process_db.c, as `cpprof contextualize` makes it a function of its
 * own: a merge sort that has the first bytes of a name beside the pointer, and needs the record only if they are equal.
 */
#ifndef SORT_NAMES_H
#define SORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "employee.h"

struct sort_entry {
	uint64_t keys
		[2]; /* the first bytes of the name, as numbers: compared as numbers, they have the order of the bytes */
	struct employee *record;
};

static inline bool sort_precedes(const struct sort_entry *a, const struct sort_entry *b,
				 int (*compare)(const void *, const void *))
{
	if (a->keys[0] != b->keys[0])
		return a->keys[0] < b->keys[0];
	if (a->keys[1] != b->keys[1])
		return a->keys[1] < b->keys[1];
	return compare(&a->record, &b->record) <= 0;
}

static inline void sort_merge(const struct sort_entry *from, struct sort_entry *to, size_t begin, size_t middle,
			      size_t end, int (*compare)(const void *, const void *))
{
	for (size_t left = begin, right = middle, at = begin; at < end; at++) {
		bool takes_left = right == end || (left < middle && sort_precedes(&from[left], &from[right], compare));
		to[at] = takes_left ? from[left++] : from[right++];
	}
}

static inline size_t sort_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Sorts as qsort does with the comparison of names. Returns false, and changes nothing, if there is no memory. */
static inline bool sort_names(struct employee **pointers, size_t count, int (*compare)(const void *, const void *))
{
	struct sort_entry *entries = calloc(2 * count + 1, sizeof(*entries));
	struct sort_entry *from = entries, *to = entries + count;
	if (!entries)
		return false;
	for (size_t i = 0; i < count; i++) {
		memcpy(from[i].keys, pointers[i]->name, sizeof(from[i].keys));
		for (size_t k = 0; k < 2; k++)
			from[i].keys[k] = __builtin_bswap64(from[i].keys[k]);
		from[i].record = pointers[i];
	}
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t i = 0; i < count; i += 2 * width)
			sort_merge(from, to, i, sort_least(i + width, count), sort_least(i + 2 * width, count),
				   compare);
		struct sort_entry *sorted = to;
		to = from;
		from = sorted;
	}
	for (size_t i = 0; i < count; i++)
		pointers[i] = from[i].record;
	free(entries);
	return true;
}

#endif
