#include "collect/sample/perf/streams.h"

#include <stdlib.h>

struct perf_stream {
	pid_t owner; /* of the events that count */
	uint32_t life;
	uint64_t last_ns; /* of the latest sample */
};

static uint32_t life_of(const struct perf_streams *streams, uint32_t tid)
{
	uint32_t life = hash_map_get(&streams->lives, tid);
	return life == HASH_MAP_NONE ? 0 : life;
}

bool perf_streams_take(struct perf_streams *streams, uint32_t tid, size_t cpu, uint32_t tag, pid_t owner,
		       uint64_t time_ns)
{
	bool is_new;
	int64_t index = HASH_MAP_ITEM(&streams->by_key, (uint64_t)tid << 32 | (uint32_t)cpu << 16 | tag, streams->items,
				      streams->capacity, streams->count, &is_new);
	if (index < 0)
		return true;
	struct perf_stream *stream = &streams->items[index];
	uint32_t life = life_of(streams, tid);
	if (is_new || stream->life != life)
		*stream = (struct perf_stream){ .owner = owner, .life = life };
	if (stream->owner != owner || stream->last_ns == time_ns)
		return false;
	stream->last_ns = time_ns;
	return true;
}

void perf_streams_restart(struct perf_streams *streams, uint32_t tid)
{
	/* Without memory, samples of a later thread with the same id may be left out, or a few counted twice. */
	hash_map_put(&streams->lives, tid, (life_of(streams, tid) + 1) % HASH_MAP_NONE);
}

void perf_streams_release(struct perf_streams *streams)
{
	hash_map_release(&streams->lives);
	hash_map_release(&streams->by_key);
	free(streams->items);
	*streams = (struct perf_streams){ .items = NULL };
}
