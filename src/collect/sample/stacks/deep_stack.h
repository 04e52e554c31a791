/*
 * The memory of a thread whose stack did not fit into a sample: the bytes of its stack up to the top, and
 * the frames found in them with their nodes. stack.h has the reason.
 */
#ifndef COLLECT_SAMPLE_STACKS_DEEP_STACK_H
#define COLLECT_SAMPLE_STACKS_DEEP_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct deep_frame {
	uint64_t pc, sp, fp;
	uint32_t node;
};

struct deep_stack {
	/* Bytes of the addresses [top - size, top), at the end of `bytes`. */
	uint8_t *bytes;
	size_t size, capacity;
	uint64_t top;
	/* Outermost first, because the inner frames are those that are replaced. */
	struct deep_frame *frames;
	size_t frame_count, frame_capacity;
	bool is_generated; /* some of the frames are in generated code */
};

struct deep_stack *deep_stack_new(void); /* returns NULL if memory ran out */
void deep_stack_free(struct deep_stack *deep);

/* Returns the remembered bytes from `address` up, and their number in *size, or NULL if there are none. */
const uint8_t *deep_stack_at(const struct deep_stack *deep, uint64_t address, size_t *size);

/* Remembers `size` bytes at `address`. They must touch or overlap the present bytes and not exceed their
 * top; otherwise (another stack, or another top) everything else is forgotten. Returns 0, or ERROR_MEMORY,
 * after which nothing is remembered. */
int deep_stack_store(struct deep_stack *deep, uint64_t address, const uint8_t *bytes, size_t size);

/* Forgets bytes and frames. */
void deep_stack_clear(struct deep_stack *deep);

/* Adds a frame inside the last one. Returns 0, or -1 if memory ran out. Inline, because it is called
 * thousands of times for one sample. */
int deep_stack_grow(struct deep_stack *deep); /* room for one more */
static inline int deep_stack_push(struct deep_stack *deep, const struct deep_frame *frame)
{
	if (deep->frame_count == deep->frame_capacity && deep_stack_grow(deep) < 0)
		return -1;
	deep->frames[deep->frame_count++] = *frame;
	return 0;
}

/* Returns the index of the frame with exactly these registers, or SIZE_MAX. */
size_t deep_stack_find(const struct deep_stack *deep, const struct unwind_frame *frame);

#endif
