/*
 * The ring through which the eBPF programs tell: BPF_MAP_TYPE_RINGBUF, read in
 * order of time.
 *
 * Records lie in the order in which room was taken, which over several CPUs is
 * only nearly that of their times. What is there is gathered and sorted; the room
 * is given back from the oldest on, as far as all is taken.
 */
#ifndef COLLECT_SAMPLE_BPF_RING_H
#define COLLECT_SAMPLE_BPF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/bpf/programs/shared.h"

struct bpf_ring;

/* `fd` of the map, which has `bytes` (a power of two); not owned. NULL: errno says why. */
struct bpf_ring *bpf_ring_new(int fd, size_t bytes);
void bpf_ring_free(struct bpf_ring *ring); /* NULL is fine */

/* A descriptor that becomes readable when the programs wake us, until the next
 * refresh. (The map's own is readable while there is anything in it.) */
int bpf_ring_descriptor(const struct bpf_ring *ring);

/* Gathers what is there by now. False: not all, since a record is just being written or
 * there is no memory to list more. */
bool bpf_ring_refresh(struct bpf_ring *ring);

/* The earliest record, or NULL; valid until bpf_ring_next. Its frames, or registers
 * and stack, are right behind it, complete. */
const struct sample_record *bpf_ring_peek(const struct bpf_ring *ring);
void bpf_ring_next(struct bpf_ring *ring);

/* Whether there is one that hands a stack over. */
bool bpf_ring_has_stack(const struct bpf_ring *ring);

#endif
