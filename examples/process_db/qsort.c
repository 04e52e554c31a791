/*
 * A sort that process_db.c can have in place of the C library's: quicksort, and insertion for short ranges.
 * `cpprof contextualize --with` gives one call path its own copy of it.
 */
#include <stddef.h>
#include <string.h>

#define SHORT 8
#define AT(base, index, size) ((base) + (index) * (size))

void qsort(void *base, size_t nmemb, size_t size, int (*compare)(const void *, const void *));
static void sort_range(char *base, size_t count, size_t size, int (*compare)(const void *, const void *));

static const size_t block = 16;

/* Exchanges two items. */
static void swap(char *a, char *b, size_t size)
{
	char kept[16];
	for (size_t done = 0; done < size; done += block) {
		size_t part = size - done < block ? size - done : block;
		memcpy(kept, a + done, part);
		memcpy(a + done, b + done, part);
		memcpy(b + done, kept, part);
	}
}

/* Moves items until a short range is in order. */
static void insert(char *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && compare(AT(base, k - 1, size), AT(base, k, size)) > 0; k--)
			swap(AT(base, k - 1, size), AT(base, k, size), size);
}

/* A second use of this file, which a call of qsort does not need. */
static int is_sorted(const char *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < count; i++)
		if (compare(AT(base, i - 1, size), AT(base, i, size)) > 0)
			return 0;
	return 1;
}

int check_sorted(const void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	return is_sorted(base, count, size, compare);
}

void qsort(void *base, size_t nmemb, size_t size, int (*compare)(const void *, const void *))
{
	if (nmemb > 1 && size > 0)
		sort_range(base, nmemb, size, compare);
}

static void sort_range(char *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	while (count > SHORT) {
		size_t less = 0;
		swap(base, AT(base, count / 2, size), size);
		for (size_t i = 1; i < count; i++)
			if (compare(AT(base, i, size), base) < 0 && ++less != i)
				swap(AT(base, less, size), AT(base, i, size), size);
		swap(base, AT(base, less, size), size);
		sort_range(base, less, size, compare);
		base = AT(base, less + 1, size);
		count -= less + 1;
	}
	insert(base, count, size, compare);
}
