#include "ui/page/missing.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct sort {
	size_t bytes;
	int (*compare)(const void *, const void *, void *);
	void *context;
};

/* A call of memcpy takes longer than to copy the few words of an item. */
static void copy_item(char *to, const char *from, size_t bytes)
{
	size_t at = 0;
	for (; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t))
		memcpy(to + at, from + at, sizeof(uint64_t));
	for (; at < bytes; at++)
		to[at] = from[at];
}

/* Merges the sorted halves from[0 .. middle) and from[middle .. count) into `to`. */
static void merge(const struct sort *sort, const char *from, size_t middle, size_t count, char *to)
{
	size_t left = 0, right = middle;
	while (left < middle || right < count) {
		bool takes_left = left < middle &&
				  (right == count || sort->compare(from + left * sort->bytes,
								   from + right * sort->bytes, sort->context) <= 0);
		size_t *taken = takes_left ? &left : &right;
		copy_item(to, from + (*taken)++ * sort->bytes, sort->bytes);
		to += sort->bytes;
	}
}

/* Merges runs of 1, 2, 4, ... items. */
static void merge_sort(const struct sort *sort, char *items, size_t count, char *copy)
{
	char *from = items, *to = copy;
	for (size_t run = 1; run < count; run *= 2) {
		for (size_t at = 0; at < count; at += 2 * run) {
			size_t rest = count - at;
			merge(sort, from + at * sort->bytes, run < rest ? run : rest, 2 * run < rest ? 2 * run : rest,
			      to + at * sort->bytes);
		}
		char *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sort->bytes);
}

static void swap_items(char *a, char *b, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		char byte = a[i];
		a[i] = b[i];
		b[i] = byte;
	}
}

static void insertion_sort(const struct sort *sort, char *items, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (char *at = items + i * sort->bytes;
		     at > items && sort->compare(at - sort->bytes, at, sort->context) > 0; at -= sort->bytes)
			swap_items(at - sort->bytes, at, sort->bytes);
}

void qsort_r(void *items, size_t count, size_t bytes, int (*compare)(const void *, const void *, void *), void *context)
{
	const struct sort sort = { .bytes = bytes, .compare = compare, .context = context };
	char *copy = count > 1 ? malloc(count * bytes) : NULL;
	if (copy)
		merge_sort(&sort, items, count, copy);
	else
		insertion_sort(&sort, items, count);
	free(copy);
}

/* Advice may be ignored. */
int madvise(void *address, size_t bytes, int advice)
{
	(void)address, (void)bytes, (void)advice;
	return 0;
}

/* The functions of wasi-libc are loops; these are the instructions, for which the browser calls its own library. */
void *memset(void *to, int byte, size_t bytes)
{
	return __builtin_memset(to, byte, bytes);
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	return __builtin_memcpy(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes)
{
	return __builtin_memmove(to, from, bytes);
}
