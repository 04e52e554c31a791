#include "collect/sample/bpf/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/sample/stacks/sample_decode.h"

/*
 * The kernel maps one page with the read position, which we write; then, read-only, one page with the
 * write position, and the data, twice, so that no record is cut at the end. A record has a header of 8
 * bytes: its length, with two flags in the upper bits, and a field of the kernel's own.
 */
enum { HEADER_BYTES = 8, ENTRIES_MIN = 64 };

struct entry {
	uint64_t time_ns;
	uint64_t at; /* position of its header */
	bool taken;
	bool has_stack;
};

struct bpf_ring {
	size_t bytes, page_bytes;
	int wake_fd; /* an epoll that watches the map, edge-triggered */
	uint64_t *consumer;
	const uint64_t *producer;
	const uint8_t *data;
	uint64_t gathered; /* position up to which records are in `entries` */
	/* In the order of their positions. Entries before `oldest` are taken. */
	struct entry *entries;
	size_t count, capacity, oldest;
	/* Numbers of entries in the order of their times. Entries before `next` are taken. */
	uint32_t *order;
	size_t order_capacity, next;
	size_t stacks; /* entries with a copied stack that are not taken */
};

static int make_wake_fd(int fd)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	int wake_fd = epoll_create1(EPOLL_CLOEXEC);
	/* EPERM: a plain file, as in tests, which never becomes readable. */
	if (wake_fd >= 0 && epoll_ctl(wake_fd, EPOLL_CTL_ADD, fd, &edge) < 0 && errno != EPERM) {
		close(wake_fd);
		return -1;
	}
	return wake_fd;
}

static void *map_part(int fd, size_t bytes, int protection, size_t offset)
{
	void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)offset);
	if (memory == MAP_FAILED)
		return NULL;
	/* Only for speed: a fork would copy the entries of all these pages, and no child uses them. */
	madvise(memory, bytes, MADV_DONTFORK);
	return memory;
}

struct bpf_ring *bpf_ring_new(int fd, size_t bytes)
{
	struct bpf_ring *ring = calloc(1, sizeof(*ring));
	if (!ring)
		return NULL;
	ring->bytes = bytes;
	ring->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	ring->wake_fd = make_wake_fd(fd);
	ring->consumer = map_part(fd, ring->page_bytes, PROT_READ | PROT_WRITE, 0);
	ring->producer = map_part(fd, ring->page_bytes + 2 * bytes, PROT_READ, ring->page_bytes);
	if (ring->wake_fd < 0 || !ring->consumer || !ring->producer) {
		bpf_ring_free(ring);
		return NULL;
	}
	ring->data = (const uint8_t *)ring->producer + ring->page_bytes;
	/* So that later records are listed in turns where there is no memory. */
	if (ARRAY_RESERVE(ring->entries, ring->capacity, ENTRIES_MIN) < 0 ||
	    ARRAY_RESERVE(ring->order, ring->order_capacity, ENTRIES_MIN) < 0) {
		bpf_ring_free(ring);
		return NULL;
	}
	return ring;
}

void bpf_ring_free(struct bpf_ring *ring)
{
	if (!ring)
		return;
	if (ring->consumer)
		munmap(ring->consumer, ring->page_bytes);
	if (ring->producer)
		munmap((void *)ring->producer, ring->page_bytes + 2 * ring->bytes);
	if (ring->wake_fd >= 0)
		close(ring->wake_fd);
	free(ring->entries);
	free(ring->order);
	free(ring);
}

int bpf_ring_descriptor(const struct bpf_ring *ring)
{
	return ring->wake_fd;
}

static const struct sample_record *record_at(const struct bpf_ring *ring, uint64_t at)
{
	return (const struct sample_record *)(ring->data + ((at + HEADER_BYTES) & (ring->bytes - 1)));
}

/* Returns whether the record's content fits into its length. The programs ensure that it does. */
static bool is_whole(const struct sample_record *record, uint32_t length)
{
	bool is_known =
		length >= sizeof(*record) && (record->kind <= SAMPLE_FALLBACK || record->kind == SAMPLE_DESCRIPTION);
	return is_known && sample_all_bytes(record) <= length - sizeof(*record);
}

/* Removes the oldest entries, all of which are taken, and renumbers the others. */
static void remove_oldest(struct bpf_ring *ring)
{
	size_t left = 0;
	for (size_t i = 0; i < ring->count; i++)
		if (i >= ring->next || ring->order[i] >= ring->oldest)
			ring->order[left++] = ring->order[i] - (uint32_t)ring->oldest;
	/* All removed entries were before `next`. */
	ring->next -= ring->oldest;
	ring->count -= ring->oldest;
	memmove(ring->entries, ring->entries + ring->oldest, ring->count * sizeof(*ring->entries));
	ring->oldest = 0;
}

/* Makes room for one more entry. */
static int reserve(struct bpf_ring *ring)
{
	enum { MANY = 4096 };
	if (ring->next == ring->count)
		ring->count = ring->next = ring->oldest = 0;
	else if (ring->oldest >= MANY)
		remove_oldest(ring);
	int result = ARRAY_RESERVE(ring->entries, ring->capacity, ring->count + 1);
	return result < 0 ? result : ARRAY_RESERVE(ring->order, ring->order_capacity, ring->count + 1);
}

static void insert(struct bpf_ring *ring, const struct entry *entry)
{
	size_t position = ring->count;
	for (; position > ring->next && ring->entries[ring->order[position - 1]].time_ns > entry->time_ns; position--)
		ring->order[position] = ring->order[position - 1];
	ring->order[position] = (uint32_t)ring->count;
	ring->entries[ring->count++] = *entry;
	ring->stacks += entry->has_stack;
}

/* Releases the room of the taken entries, from the oldest up to the first that is not taken. */
static void release_room(struct bpf_ring *ring)
{
	while (ring->oldest < ring->count && ring->entries[ring->oldest].taken)
		ring->oldest++;
	uint64_t free_up_to = ring->oldest < ring->count ? ring->entries[ring->oldest].at : ring->gathered;
	__atomic_store_n(ring->consumer, free_up_to, __ATOMIC_RELEASE);
}

bool bpf_ring_refresh(struct bpf_ring *ring)
{
	struct epoll_event woken;
	epoll_wait(ring->wake_fd, &woken, 1, 0); /* an edge is reported once */
	uint64_t written = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	while (ring->gathered < written && reserve(ring) == 0) {
		const uint32_t *header = (const uint32_t *)(ring->data + (ring->gathered & (ring->bytes - 1)));
		uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		bool is_void = length & BPF_RINGBUF_DISCARD_BIT;
		length &= ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		uint64_t end = ring->gathered + (length + HEADER_BYTES + 7) / 8 * 8;
		const struct sample_record *record = record_at(ring, ring->gathered);
		if (!is_void && is_whole(record, length))
			insert(ring, &(struct entry){ .time_ns = record->time_ns,
						      .at = ring->gathered,
						      .has_stack = record->kind == SAMPLE_FALLBACK });
		ring->gathered = end;
	}
	release_room(ring);
	return ring->gathered >= written;
}

const struct sample_record *bpf_ring_peek(const struct bpf_ring *ring)
{
	return ring->next < ring->count ? record_at(ring, ring->entries[ring->order[ring->next]].at) : NULL;
}

void bpf_ring_next(struct bpf_ring *ring)
{
	struct entry *entry = &ring->entries[ring->order[ring->next++]];
	entry->taken = true;
	ring->stacks -= entry->has_stack;
	release_room(ring);
}

bool bpf_ring_has_stack(const struct bpf_ring *ring)
{
	return ring->stacks > 0;
}
