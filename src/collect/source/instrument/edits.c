#include "collect/source/instrument/edits.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/error.h"

void edits_init(struct edits *edits)
{
	memset(edits, 0, sizeof(*edits));
}

void edits_release(struct edits *edits)
{
	free(edits->items);
	edits_init(edits);
}

static void add(struct edits *edits, uint32_t offset, uint32_t removed, const char *text, int32_t rank)
{
	if (!edits->error && (!text || ARRAY_RESERVE(edits->items, edits->capacity, edits->count + 1)))
		edits->error = ERROR_MEMORY;
	if (edits->error)
		return;
	edits->items[edits->count++] =
		(struct edit){ .text = text, .offset = offset, .removed = removed, .rank = rank };
}

void edits_insert(struct edits *edits, uint32_t offset, const char *text)
{
	add(edits, offset, 0, text, (int32_t)edits->count + 1);
}

void edits_replace(struct edits *edits, uint32_t offset, uint32_t size, const char *text)
{
	add(edits, offset, size, text, (int32_t)edits->count + 1);
}

void edits_wrap(struct edits *edits, uint32_t offset, const char *open, uint32_t end, const char *close)
{
	int32_t rank = (int32_t)edits->count + 1;
	add(edits, offset, 0, open, rank);
	add(edits, end, 0, close, -rank);
}

static int by_offset(const void *left, const void *right)
{
	const struct edit *a = left, *b = right;
	return COMPARE(a->offset, b->offset) ?: COMPARE(a->rank, b->rank);
}

int edits_apply(struct edits *edits, const char *text, size_t size, struct buffer *copy)
{
	if (edits->error)
		return edits->error;
	if (edits->count)
		qsort(edits->items, edits->count, sizeof(*edits->items), by_offset);
	size_t done = 0;
	for (size_t i = 0; i < edits->count; i++) {
		const struct edit *edit = &edits->items[i];
		if (edit->offset > size || edit->offset < done || edit->removed > size - edit->offset)
			return ERROR_CORRUPT;
		buffer_append(copy, text + done, edit->offset - done);
		buffer_append_string(copy, edit->text);
		done = edit->offset + edit->removed;
	}
	buffer_append(copy, text + done, size - done);
	return buffer_error(copy);
}
