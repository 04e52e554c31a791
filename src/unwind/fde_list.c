/* Collects, sorts and separates the FDEs of a file. */
#include "unwind/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

void fde_list_release(struct fde_list *list)
{
	free(list->items);
	*list = (struct fde_list){ 0 };
}

static int add(struct fde_list *list, const struct cfi_fde *fde, unsigned part)
{
	if (ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
		return ERROR_MEMORY;
	list->items[list->count++] = (struct fde_item){
		.start = (uint32_t)(fde->start - list->base),
		.size = (uint32_t)(fde->end - fde->start),
		.position = {
			.cie = fde->cie,
			.instructions = fde->instructions,
			.instructions_size = fde->instructions_size & INT32_MAX,
			.part = part & 1,
		},
	};
	return 0;
}

int fde_list_read(struct fde_list *list, const struct cfi_section *section, unsigned part, struct cfi_cie **cies,
		  size_t *cie_count, uint64_t *skipped)
{
	struct cfi_reader reader;
	struct cfi_fde fde;
	int status;
	cfi_reader_init(&reader, section);
	while ((status = cfi_reader_next(&reader, &fde)) == 1) {
		if (fde.start == fde.end)
			continue;
		/* .debug_frame keeps entries at address 0 for functions that the linker has dropped. */
		bool fits = fde.start >= list->base && fde.end <= list->end && fde.instructions_size <= INT32_MAX;
		if (fits)
			status = add(list, &fde, part);
		else if (section->is_eh_frame)
			reader.skipped++;
		if (status < 0)
			break;
	}
	*skipped += reader.skipped;
	*cies = reader.cies;
	*cie_count = reader.cie_count;
	reader.cies = NULL;
	cfi_reader_release(&reader);
	return status < 0 ? status : 0;
}

/* --- sorting --- */

static bool is_sorted(const struct fde_item *items, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (items[i].start < items[i - 1].start)
			return false;
	return true;
}

/* Sorts by start, equal items in the order of the file: a radix sort, low digits first. */
static int sort(struct fde_item *items, size_t count)
{
	enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };
	if (is_sorted(items, count))
		return 0;
	struct fde_item *other = malloc(count * sizeof(*other));
	if (!other)
		return ERROR_MEMORY;
	struct fde_item *from = items;
	struct fde_item *to = other;
	for (unsigned pass = 0; pass < PASSES; pass++) {
		size_t positions[DIGITS + 1] = { 0 };
		unsigned shift = pass * DIGIT_BITS;
		for (size_t i = 0; i < count; i++)
			positions[(from[i].start >> shift & (DIGITS - 1)) + 1]++;
		for (size_t digit = 0; digit < DIGITS; digit++)
			positions[digit + 1] += positions[digit];
		for (size_t i = 0; i < count; i++)
			to[positions[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
		struct fde_item *swapped = from;
		from = to;
		to = swapped;
	}
	memcpy(items, from, count * sizeof(*items)); /* an odd number of passes ends in `other` */
	free(other);
	return 0;
}

/* --- overlaps --- */

/* Keeps one of the sorted items for each start, and cuts each at the start of the next one. */
static size_t cut_overlaps(struct fde_item *items, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		struct fde_item *last = kept ? &items[kept - 1] : NULL;
		if (last && items[i].start == last->start)
			continue;
		if (last && items[i].start - last->start < last->size)
			last->size = items[i].start - last->start;
		items[kept++] = items[i];
	}
	return kept;
}

static bool touches(const struct fde_item *items, size_t count, size_t *at, const struct fde_item *item)
{
	while (*at < count && (uint64_t)items[*at].start + items[*at].size <= item->start)
		(*at)++;
	return *at < count && items[*at].start < (uint64_t)item->start + item->size;
}

int fde_list_sort(struct fde_list *list)
{
	/* The first section's items precede the second's. */
	size_t first = 0;
	if (list->count == 0)
		return 0;
	while (first < list->count && list->items[first].position.part == 0)
		first++;
	struct fde_item *rest = list->items + first;
	size_t rest_count = list->count - first;
	if (sort(list->items, first) < 0 || (rest_count && sort(rest, rest_count) < 0))
		return ERROR_MEMORY;
	size_t kept = cut_overlaps(list->items, first);
	rest_count = rest_count ? cut_overlaps(rest, rest_count) : 0;
	size_t total = kept;
	size_t at = 0;
	for (size_t i = 0; i < rest_count; i++)
		if (!touches(list->items, kept, &at, &rest[i]))
			list->items[total++] = rest[i];
	list->count = total;
	return total > kept ? sort(list->items, total) : 0;
}
