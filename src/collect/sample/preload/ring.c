#include "collect/sample/preload/ring.h"

#include <string.h>

enum { ALIGNMENT = 8 };

void preload_ring_init(struct preload_ring *ring, struct channel *channel, uint32_t thread)
{
	struct channel_thread *shared = &channel->threads[thread];
	*ring = (struct preload_ring){
		.shared = shared,
		.bytes = (const uint8_t *)channel + CHANNEL_RINGS + (uint64_t)thread * CHANNEL_RING_BYTES,
		.tail = __atomic_load_n(&shared->tail, __ATOMIC_RELAXED),
	};
	ring->limit = ring->tail;
}

static void copy_out(const struct preload_ring *ring, uint64_t at, void *to, size_t bytes)
{
	size_t within = at % CHANNEL_RING_BYTES;
	size_t room = CHANNEL_RING_BYTES - within;
	size_t part = bytes < room ? bytes : room;
	memcpy(to, ring->bytes + within, part);
	memcpy((uint8_t *)to + part, ring->bytes, bytes - part);
}

/* Returns whether such a record is possible within `room` bytes. */
static bool is_possible(const struct sample_record *record, uint64_t room)
{
	uint32_t stack_most = record->kind == SAMPLE_FALLBACK      ? SAMPLE_STACK_BYTES
			      : record->kind == CHANNEL_EVENT      ? CHANNEL_TEXT_BYTES
			      : record->kind == SAMPLE_DESCRIPTION ? sizeof(struct interpreted_code)
								   : 0;
	if (record->kind > SAMPLE_DESCRIPTION || record->stack_bytes > stack_most || record->kernel_frames > 0)
		return false;
	if (record->frames > (record->kind == SAMPLE_WALKED ? WALK_FRAMES : 0))
		return false;
	if (record->interpreted > (record->kind <= SAMPLE_FALLBACK ? INTERPRETED_MOST : 0))
		return false;
	return preload_record_bytes(record) <= room;
}

/* Copies the head of the next record. */
static void find_next(struct preload_ring *ring)
{
	uint64_t room = ring->limit - ring->tail;
	ring->has_next = false;
	if (ring->is_broken || room == 0)
		return;
	if (room >= sizeof(ring->next))
		copy_out(ring, ring->tail, &ring->next, sizeof(ring->next));
	if (room < sizeof(ring->next) || !is_possible(&ring->next, room))
		ring->is_broken = true;
	else
		ring->has_next = true;
}

void preload_ring_update(struct preload_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->shared->head, __ATOMIC_ACQUIRE);
	if (head - ring->tail > CHANNEL_RING_BYTES || head % ALIGNMENT != 0 || head < ring->limit)
		ring->is_broken = true;
	else
		ring->limit = head;
	if (ring->is_broken || !ring->has_next)
		find_next(ring);
}

const struct sample_record *preload_ring_peek(const struct preload_ring *ring)
{
	return ring->has_next ? &ring->next : NULL;
}

void preload_ring_take(struct preload_ring *ring, struct preload_record *to)
{
	uint64_t bytes = preload_record_bytes(&ring->next);
	to->record = ring->next;
	copy_out(ring, ring->tail + sizeof(to->record), to->content, bytes - sizeof(to->record));
	ring->tail += bytes;
	__atomic_store_n(&ring->shared->tail, ring->tail, __ATOMIC_RELEASE);
	find_next(ring);
}

void preload_ring_give_up(struct preload_ring *ring)
{
	ring->is_broken = true;
	ring->has_next = false;
}
