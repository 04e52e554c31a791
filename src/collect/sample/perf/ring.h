/*
 * The ring buffer that the kernel shares with us for perf events (see
 * perf_event_open(2), "MMAP layout"):
 *
 *   page 0: control      pages 1 .. 2^n: records, each with an 8-byte header
 *                        tail ... head: what we have not read yet
 *
 * The kernel moves `head`, we move `tail`; both only grow and are taken modulo
 * the data size. A record may wrap around the end.
 */
#ifndef COLLECT_SAMPLE_PERF_RING_H
#define COLLECT_SAMPLE_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct pollfd;

struct ring {
	int fd;          /* the event whose ring this is; not owned */
	uint8_t *memory; /* NULL: not mapped */
	size_t data_bytes;
	uint64_t head;                          /* as of the last ring_refresh */
	uint64_t tail;                          /* read up to here; the kernel learns of it by ring_release */
	uint8_t *scratch;                       /* owned: a record that wraps is made whole here */
	const struct perf_event_header *peeked; /* the record at `tail`, once looked at */
};

/* Maps a ring of `data_bytes` (a power of two of pages) for the event `fd`.
 * 0, or -errno (-EPERM: over the limit of locked memory; -ENOMEM). */
int ring_map(struct ring *ring, int fd, size_t data_bytes);
void ring_unmap(struct ring *ring);

/* Looks how far the kernel has written. */
void ring_refresh(struct ring *ring);

/* The next record up to `head`, or NULL: none. The pointer is valid until the
 * next ring_next. */
const struct perf_event_header *ring_peek(struct ring *ring);

/* Steps over the record that ring_peek showed. */
void ring_next(struct ring *ring);

/* Gives the memory of everything stepped over back to the kernel. */
void ring_release(struct ring *ring);

/* What becomes readable when there is something in one of the rings: returns how
 * many there are, writes at most `limit`. */
size_t ring_descriptors(const struct ring *rings, size_t count, struct pollfd *descriptors, size_t limit);

#endif
