#include "collect/sample/perf/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size of a record is a 16-bit number. */
enum { RECORD_MAX_BYTES = 65536 };

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct perf_event_mmap_page *control(const struct ring *ring)
{
	return (struct perf_event_mmap_page *)(void *)ring->memory;
}

int ring_map(struct ring *ring, int fd, size_t data_bytes)
{
	*ring = (struct ring){ .fd = -1 };
	uint8_t *scratch = malloc(RECORD_MAX_BYTES);
	if (!scratch)
		return -ENOMEM;
	void *memory = mmap(NULL, page_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		free(scratch);
		return -errno;
	}
	*ring = (struct ring){ .fd = fd, .memory = memory, .data_bytes = data_bytes, .scratch = scratch };
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, page_bytes() + ring->data_bytes);
	if (ring->memory && ring->fd >= 0)
		close(ring->fd);
	free(ring->scratch);
	*ring = (struct ring){ .fd = -1 };
}

void ring_refresh(struct ring *ring)
{
	/* Acquire: the records before `head` are read after it. */
	ring->head = __atomic_load_n(&control(ring)->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *ring_peek(struct ring *ring)
{
	if (ring->peeked || ring->tail >= ring->head)
		return ring->peeked;
	const uint8_t *data = ring->memory + page_bytes();
	size_t at = (size_t)(ring->tail & (ring->data_bytes - 1));
	/* Records are multiples of 8 bytes, so the header itself never wraps. */
	const struct perf_event_header *record = (const void *)(data + at);
	size_t size = record->size;
	if (size < sizeof(*record)) { /* no record: skip what is there, so that reading can continue */
		ring->tail = ring->head;
		return NULL;
	}
	if (at + size > ring->data_bytes) {
		size_t first = ring->data_bytes - at;
		memcpy(ring->scratch, data + at, first);
		memcpy(ring->scratch + first, data, size - first);
		record = (const void *)ring->scratch;
	}
	ring->peeked = record;
	return record;
}

void ring_next(struct ring *ring)
{
	ring->tail += ring->peeked->size;
	ring->peeked = NULL;
}

void ring_release(struct ring *ring)
{
	/* Release: our reads of the records come before the kernel reuses them. */
	__atomic_store_n(&control(ring)->data_tail, ring->tail, __ATOMIC_RELEASE);
}

size_t ring_descriptors(const struct ring *rings, size_t count, struct pollfd *descriptors, size_t limit)
{
	size_t mapped = 0;
	for (size_t i = 0; i < count; i++) {
		if (!rings[i].memory)
			continue;
		if (mapped < limit)
			descriptors[mapped] = (struct pollfd){ .fd = rings[i].fd, .events = POLLIN };
		mapped++;
	}
	return mapped;
}
