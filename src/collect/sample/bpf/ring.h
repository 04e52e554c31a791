/*
 * Reads the ring into which the eBPF programs write (BPF_MAP_TYPE_RINGBUF), in order of time.
 *
 * Records lie in the order in which their room was reserved; over several CPUs that is only nearly the
 * order of their times. The reader lists the records that are complete, and sorts them. It releases the
 * room from the oldest record up to the first that is not taken.
 */
#ifndef COLLECT_SAMPLE_BPF_RING_H
#define COLLECT_SAMPLE_BPF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/bpf/programs/shared.h"

struct bpf_ring;

/* Opens the ring of the map `fd` (not owned), which has `bytes` bytes, a power of two. Returns NULL with
 * errno if that fails. */
struct bpf_ring *bpf_ring_new(int fd, size_t bytes);
void bpf_ring_free(struct bpf_ring *ring); /* NULL is fine */

/* Returns a descriptor that becomes readable when the programs wake us, until the next refresh. (The map's
 * own descriptor is readable as long as the map is not empty.) */
int bpf_ring_descriptor(const struct bpf_ring *ring);

/* Lists the records that are complete by now. Returns false if some are missing: one is being written, or
 * memory ran out. */
bool bpf_ring_refresh(struct bpf_ring *ring);

/* Returns the earliest record, or NULL; valid until bpf_ring_next. Its frames, or registers and stack,
 * directly follow it and are complete. */
const struct sample_record *bpf_ring_peek(const struct bpf_ring *ring);
void bpf_ring_next(struct bpf_ring *ring);

/* Returns whether a record with a copied stack is waiting. */
bool bpf_ring_has_stack(const struct bpf_ring *ring);

#endif
