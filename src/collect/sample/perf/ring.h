/*
 * The ring buffer that the kernel shares with us for perf events (see perf_event_open(2), "MMAP layout"):
 *
 *   page 0: control      pages 1 .. 2^n: records, each with an 8-byte header
 *                        tail ... head: records that we have not read yet
 *
 * The kernel advances `head`, we advance `tail`; both only grow and are taken modulo the data size. A
 * record may wrap around the end.
 */
#ifndef COLLECT_SAMPLE_PERF_RING_H
#define COLLECT_SAMPLE_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct pollfd;

struct ring {
	int fd;          /* the event whose ring this is; owned once the ring is mapped */
	uint8_t *memory; /* NULL: not mapped */
	size_t data_bytes;
	uint64_t head;    /* as of the last ring_refresh */
	uint64_t tail;    /* position up to which we have read; ring_release reports it to the kernel */
	uint8_t *scratch; /* owned: a record that wraps is assembled here */
	const struct perf_event_header *peeked; /* the record at `tail`, after ring_peek */
};

/* Maps a ring of `data_bytes` (a power of two of pages) for the event `fd`, which ring_unmap closes. Returns 0, or
 * -errno (-EPERM: over the limit of locked memory; -ENOMEM), after which the caller still owns `fd`. */
int ring_map(struct ring *ring, int fd, size_t data_bytes);
void ring_unmap(struct ring *ring);

/* Updates how far the kernel has written. */
void ring_refresh(struct ring *ring);

/* Returns the next record up to `head`, or NULL if there is none. It is valid until the next ring_next. */
const struct perf_event_header *ring_peek(struct ring *ring);

/* Steps over the record that ring_peek returned. */
void ring_next(struct ring *ring);

/* Returns the memory of all records that were stepped over to the kernel. */
void ring_release(struct ring *ring);

/* Lists the descriptors that become readable when a ring has records: writes at most `limit` of them, and
 * returns the number of all. */
size_t ring_descriptors(const struct ring *rings, size_t count, struct pollfd *descriptors, size_t limit);

#endif
