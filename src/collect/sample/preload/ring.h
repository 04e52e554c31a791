/*
 * Reading the ring of one thread (abi/channel.h). Whoever writes it may write
 * anything at any time: what is looked at is copied first, then checked, and only the
 * copy is used. A ring with something in it that cannot be is given up.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_RING_H
#define COLLECT_SAMPLE_PRELOAD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"

enum {
	PRELOAD_CONTENT_BYTES =
		WALK_FRAMES * sizeof(uint64_t) + SAMPLE_REGISTERS * sizeof(uint64_t) + SAMPLE_STACK_BYTES
};

/* A record that was taken out, and what follows it: frames; registers and stack; a text. */
struct preload_record {
	struct sample_record record;
	uint64_t content[PRELOAD_CONTENT_BYTES / sizeof(uint64_t)];
};

struct preload_ring {
	struct channel_thread *shared; /* not owned, nor is: */
	const uint8_t *bytes;          /* CHANNEL_RING_BYTES */
	uint64_t tail;                 /* read up to here */
	uint64_t limit;                /* written up to here when we looked */
	bool is_broken;
	bool has_next;
	struct sample_record next; /* the record at `tail` */
};

/* Ready to be read from where the ring's last owner left it. */
void preload_ring_init(struct preload_ring *ring, struct channel *channel, uint32_t thread);

/* Looks how far it is written by now. */
void preload_ring_look(struct preload_ring *ring);

/* The next record up to there, without what follows it; NULL: there is none (more). */
const struct sample_record *preload_ring_peek(const struct preload_ring *ring);

/* Takes the next one, which there must be, and gives its room back. */
void preload_ring_take(struct preload_ring *ring, struct preload_record *to);

/* What was taken makes no sense: nothing more is read. */
void preload_ring_give_up(struct preload_ring *ring);

#endif
