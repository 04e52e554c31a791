/* The texts of label sets, for the reader of the tally: samples have their numbers. */
#include <string.h>

#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/tally.h"
#include "collect/agent/probes/registry.h"

enum { ALIGNMENT = 8 };

static struct tally_labels *last; /* the chunk that has room, or NULL; the lock of probes_lock protects it */

/* Returns room for `bytes` bytes, or NULL if there is none. */
static struct tally_label_set *make_room(uint64_t bytes)
{
	uint64_t used = last ? sizeof(*last) + last->sets_bytes : 0;
	if (last && bytes <= last->chunk.bytes - used)
		return (struct tally_label_set *)(void *)((uint8_t *)last + used);
	struct tally_chunk *chunk = tally_chunk_new(sizeof(*last) + bytes, 0);
	if (!chunk)
		return NULL;
	chunk->used = chunk->bytes;
	last = (struct tally_labels *)chunk;
	tally_chunk_finish(chunk, TALLY_LABELS);
	return (struct tally_label_set *)(void *)last->sets;
}

void hooks_labels_declared(uint32_t number, const char *text, size_t bytes)
{
	uint64_t size = (sizeof(struct tally_label_set) + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	uint64_t signals;
	if (!hooks.header)
		return;
	probes_lock(&signals);
	struct tally_label_set *set = make_room(size);
	if (set) {
		set->number = number;
		set->bytes = (uint32_t)bytes;
		memcpy(set->text, text, bytes);
		__atomic_store_n(&last->sets_bytes, last->sets_bytes + size, __ATOMIC_RELEASE);
	}
	probes_unlock(&signals);
}

void hooks_labels_forked(void)
{
	last = NULL;
	runtime_labels_repeat();
}
