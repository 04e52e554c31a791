#include "collect/sample/stacks/deep_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/lower_bound.h"

struct deep_stack *deep_stack_new(void)
{
	return calloc(1, sizeof(struct deep_stack));
}

void deep_stack_free(struct deep_stack *deep)
{
	if (!deep)
		return;
	free(deep->bytes);
	free(deep->frames);
	free(deep);
}

void deep_stack_clear(struct deep_stack *deep)
{
	deep->size = 0;
	deep->frame_count = 0;
}

const uint8_t *deep_stack_at(const struct deep_stack *deep, uint64_t address, size_t *size)
{
	if (address >= deep->top || deep->top - address > deep->size)
		return NULL;
	*size = (size_t)(deep->top - address);
	return deep->bytes + deep->capacity - *size;
}

/* Makes room for `size` bytes in all; the present bytes stay at the end. */
static int grow(struct deep_stack *deep, size_t size)
{
	if (size <= deep->capacity)
		return 0;
	size_t capacity = size * 2;
	uint8_t *bytes = malloc(capacity);
	if (!bytes)
		return ERROR_MEMORY;
	if (deep->size > 0)
		memcpy(bytes + capacity - deep->size, deep->bytes + deep->capacity - deep->size, deep->size);
	free(deep->bytes);
	deep->bytes = bytes;
	deep->capacity = capacity;
	return 0;
}

int deep_stack_store(struct deep_stack *deep, uint64_t address, const uint8_t *bytes, size_t size)
{
	uint64_t end = address + size;
	if (deep->size == 0 || end > deep->top || end < deep->top - deep->size) {
		deep_stack_clear(deep);
		deep->top = end;
	}
	size_t from_top = (size_t)(deep->top - address);
	if (grow(deep, from_top) < 0) {
		deep_stack_clear(deep);
		return ERROR_MEMORY;
	}
	if (deep->size < from_top)
		deep->size = from_top;
	memcpy(deep->bytes + deep->capacity - from_top, bytes, size);
	return 0;
}

int deep_stack_grow(struct deep_stack *deep)
{
	return ARRAY_RESERVE(deep->frames, deep->frame_capacity, deep->frame_count + 1);
}

size_t deep_stack_find(const struct deep_stack *deep, const struct unwind_frame *frame)
{
	/* From the outermost frame on, sp decreases. */
	size_t at = LOWER_BOUND(i, 0, deep->frame_count, deep->frames[i].sp > frame->sp);
	if (at == deep->frame_count)
		return SIZE_MAX;
	const struct deep_frame *found = &deep->frames[at];
	return found->sp == frame->sp && found->pc == frame->pc && found->fp == frame->fp ? at : SIZE_MAX;
}
