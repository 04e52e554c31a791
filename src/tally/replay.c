/* Times of call paths from a thread's events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "tally/tally.h"

enum { KIND_SHIFT = 62, TIME_SHIFT = 32, TIME_MASK = (1 << 30) - 1 };

struct replay {
	const struct tally *tally;
	struct tallied_thread *thread;
	struct hash_map paths; /* by their numbers */
	uint64_t *times;       /* by path: TSC ticks */
	uint64_t base, last;   /* what events count from; the last one's time, 0: there was none */
	uint64_t next;         /* the number of the word behind those that were gone through */
	uint32_t current;      /* path */
};

/* Words that belong to an event besides its own; -1: there is no such event. */
static int operands_of(uint64_t event)
{
	static const int operands[TALLY_EVENT_OTHERS] = {
		[TALLY_EVENT_TIME] = 1, [TALLY_EVENT_TICK] = 3, [TALLY_EVENT_USER] = 2
	};
	uint32_t number = (uint32_t)event;
	switch (event >> KIND_SHIFT) {
	case TALLY_EVENT_ENTER:
	case TALLY_EVENT_LEAVE:
		return 0;
	case TALLY_EVENT_OTHER:
		return number < TALLY_EVENT_OTHERS ? operands[number] : -1;
	default:
		return -1;
	}
}

/* The time since the last event is that of the path which was current; the root is nobody's. */
static int change_path(struct replay *replay, uint64_t event)
{
	uint32_t number = (uint32_t)event;
	uint64_t now = replay->base + (event >> TIME_SHIFT & TIME_MASK);
	uint32_t path = number ? hash_map_get(&replay->paths, number) : TALLIED_ROOT;
	if (path == HASH_MAP_NONE)
		return ERROR_CORRUPT;
	/* The clocks of two processors may differ by a few ticks; and a handler comes before what it has interrupted. */
	if (replay->last && now > replay->last && replay->current != TALLIED_ROOT)
		replay->times[replay->current] += now - replay->last;
	if (now > replay->last)
		replay->last = now;
	replay->current = path;
	return 0;
}

/* As far as they go: no word is 0, and what was cut short ends with zeros. *done: how many words that were. */
static int replay_words(struct replay *replay, const uint8_t *at, size_t count, size_t *done)
{
	int status = 0;
	size_t i = 0;
	while (i < count && status == 0) {
		uint64_t event, last;
		memcpy(&event, at + i * sizeof(event), sizeof(event));
		int operands = event ? operands_of(event) : 0;
		if (operands < 0)
			return ERROR_CORRUPT;
		if (event == 0 || count - i <= (size_t)operands)
			break;
		memcpy(&last, at + (i + (size_t)operands) * sizeof(last), sizeof(last));
		if (last == 0)
			break;
		if (event >> KIND_SHIFT != TALLY_EVENT_OTHER)
			status = change_path(replay, event);
		else if ((uint32_t)event == TALLY_EVENT_TIME)
			replay->base = last;
		i += 1 + (size_t)operands;
	}
	*done = i;
	return status;
}

/* The events that are in the file for good. */
static int replay_chunk(struct replay *replay, const struct tallied_chunk *chunk)
{
	struct tally_trace header;
	size_t done;
	memcpy(&header, chunk->bytes, sizeof(header));
	int status = replay_words(replay, chunk->bytes + sizeof(header),
				  (chunk->used - sizeof(header)) / sizeof(uint64_t), &done);
	replay->next = header.first + done;
	return status;
}

/* The last ones: those that no chunk has, as the program may have been killed when it was writing one. */
static int replay_ring(struct replay *replay, const struct tallied_chunk *chunk)
{
	struct tally_ring ring;
	size_t room = (chunk->used - sizeof(ring)) / sizeof(uint64_t), done;
	memcpy(&ring, chunk->bytes, sizeof(ring));
	uint64_t first = replay->next > ring.flushed ? replay->next - ring.flushed : 0;
	if (first >= room)
		return 0;
	return replay_words(replay, chunk->bytes + sizeof(ring) + first * sizeof(uint64_t), room - first, &done);
}

typedef int replay_fn(struct replay *replay, const struct tallied_chunk *chunk);

static int replay_chunks(struct replay *replay, uint32_t kind, replay_fn *one)
{
	const struct tallied_chunk *chunk = NULL;
	int status = 0;
	while (status == 0 && (chunk = tally_next_chunk(replay->tally, replay->thread, kind, chunk)))
		status = one(replay, chunk);
	return status;
}

static int replay_all(struct replay *replay)
{
	struct tallied_tree *tree = &replay->thread->tree;
	int status = 0;
	replay->times = calloc(tree->path_count, sizeof(*replay->times));
	if (!replay->times)
		return ERROR_MEMORY;
	for (size_t i = 0; i < tree->path_count && status == 0; i++)
		if (tree->paths[i].number)
			status = hash_map_put(&replay->paths, tree->paths[i].number, (uint32_t)i);
	if (status == 0)
		status = replay_chunks(replay, TALLY_EVENTS, replay_chunk);
	if (status == 0)
		status = replay_chunks(replay, TALLY_RING, replay_ring);
	for (size_t i = 0; i < tree->path_count && status == 0; i++)
		tree->paths[i].exclusive_ns =
			tally_ns(&replay->tally->processes[replay->thread->process], replay->times[i]);
	return status;
}

int tally_replay(const struct tally *tally, struct tallied_thread *thread, struct error *error)
{
	struct replay replay = { .tally = tally, .thread = thread };
	/* Hooks that know entries alone do not tell how long anything took. */
	if (!(tally->processes[thread->process].shared->hooks & TALLY_HOOK_CYG))
		return 0;
	hash_map_init(&replay.paths);
	int status = replay_all(&replay);
	hash_map_release(&replay.paths);
	free(replay.times);
	if (status == ERROR_CORRUPT)
		return error_set(error, status, "the trace is damaged: events of thread %" PRIu32 " make no sense",
				 thread->shared->tid);
	return status < 0 ? error_set(error, status, "%s", error_text(status)) : 0;
}
