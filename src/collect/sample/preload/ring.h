/*
 * Reads the ring of one thread (abi/channel.h). The target may write anything into it at any time, so the
 * reader copies first, then checks the copy, and uses only the copy. It abandons a ring with an impossible
 * record.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_RING_H
#define COLLECT_SAMPLE_PRELOAD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"
#include "collect/sample/stacks/sample_decode.h"
#include "processor/registers.h"

enum {
	PRELOAD_CONTENT_BYTES = 2 * WALK_FRAMES * sizeof(uint64_t) + sizeof(struct arch_registers) +
				SAMPLE_STACK_BYTES + INTERPRETED_MOST * sizeof(struct interpreted_frame)
};

/* Returns the bytes of a record in its ring. The record's fields may have any values: the caller checks the bounds. */
static inline uint64_t preload_record_bytes(const struct sample_record *record)
{
	return sizeof(*record) + sample_aligned(sample_all_bytes(record));
}

/* A record that was taken out of the ring, and its content: frames; registers and stack; or a text. */
struct preload_record {
	struct sample_record record;
	uint64_t content[PRELOAD_CONTENT_BYTES / sizeof(uint64_t)];
};

struct preload_ring {
	struct channel_thread *shared; /* not owned; neither is: */
	const uint8_t *bytes;          /* CHANNEL_RING_BYTES */
	uint64_t tail;                 /* position up to which the ring was read */
	uint64_t limit;                /* position up to which it was written at the last look */
	bool is_broken;
	bool has_next;
	struct sample_record next; /* the record at `tail` */
};

/* Prepares to read from the position where the slot's previous owner left the ring. */
void preload_ring_init(struct preload_ring *ring, struct channel *channel, uint32_t thread);

/* Updates how far the ring is written. */
void preload_ring_update(struct preload_ring *ring);

/* Returns the next record up to there, without its content, or NULL if there is none. */
const struct sample_record *preload_ring_peek(const struct preload_ring *ring);

/* Takes the next record, which must exist, and releases its room. */
void preload_ring_take(struct preload_ring *ring, struct preload_record *to);

/* Abandons the ring, because the record that was taken is impossible: nothing more is read. */
void preload_ring_give_up(struct preload_ring *ring);

#endif
