#include "collect/count/events.h"

#include <inttypes.h>
#include <string.h>

enum { KIND_MASK = (1 << TALLY_EVENT_NUMBER_SHIFT) - 1 };

static uint32_t number_of(uint64_t event)
{
	return (uint32_t)event >> TALLY_EVENT_NUMBER_SHIFT;
}

static uint64_t word_at(const struct tally_events *events, size_t i)
{
	uint64_t word;
	memcpy(&word, events->words + i * sizeof(word), sizeof(word));
	return word;
}

/* Returns how many words follow the first word of an event, or -1 if there is no such event. */
static int operands_of(uint64_t event)
{
	static const int operands[TALLY_EVENT_OTHERS] = {
		[TALLY_EVENT_TIME] = 1, [TALLY_EVENT_TICK] = 3, [TALLY_EVENT_USER] = 3
	};
	uint32_t number = number_of(event);
	switch (event & KIND_MASK) {
	case TALLY_EVENT_ENTER:
	case TALLY_EVENT_LEAVE:
		return 0;
	case TALLY_EVENT_OTHER:
		return number < TALLY_EVENT_OTHERS ? operands[number] : -1;
	default:
		return -1;
	}
}

/* --- where words are --- */

/* Starts with the events of an EVENTS chunk. */
static int begin_chunk(struct tally_events *events)
{
	const struct count_source *source = &events->tally->source;
	struct tally_trace header;
	uint64_t bytes = events->chunk->used;
	count_source_unload(source, events->loaded);
	int status = count_source_load(source, events->chunk->offset, bytes, &bytes, &events->loaded);
	if (status < 0)
		return status;
	memcpy(&header, events->loaded, sizeof(header));
	events->words = events->loaded + sizeof(header);
	events->count = (events->chunk->used - sizeof(header)) / sizeof(uint64_t);
	events->next = header.first;
	return 1;
}

/* Starts with the last events: those words of the ring that no EVENTS chunk has. Both may have the same words, if
 * the program was killed while it wrote a chunk. */
static void begin_ring(struct tally_events *events)
{
	struct tally_ring ring;
	memcpy(&ring, events->chunk->bytes, sizeof(ring));
	size_t room = (events->chunk->used - sizeof(ring)) / sizeof(uint64_t);
	uint64_t first = events->next > ring.flushed ? events->next - ring.flushed : 0;
	first = first < room ? first : room;
	events->words = events->chunk->bytes + sizeof(ring) + first * sizeof(uint64_t);
	events->count = room - (size_t)first;
}

/* Returns 1, 0 if there are no more words, or a negative error. */
static int begin_next_chunk(struct tally_events *events)
{
	events->chunk = tally_next_chunk(events->tally, events->thread, events->chunk_kind, events->chunk);
	if (!events->chunk && events->chunk_kind == TALLY_EVENTS) {
		events->chunk_kind = TALLY_RING;
		events->chunk = tally_next_chunk(events->tally, events->thread, TALLY_RING, NULL);
	}
	if (!events->chunk)
		return 0;
	if (events->chunk_kind == TALLY_EVENTS)
		return begin_chunk(events);
	begin_ring(events);
	return 1;
}

/* --- decoding --- */

/* Decodes an event. Returns 1, 0 if the event is only for the iterator, or ERROR_CORRUPT. */
static int understand(struct tally_events *events, struct tally_event *event)
{
	uint64_t word = word_at(events, 0);
	uint32_t number = number_of(word);
	event->kind = (enum tally_event_kind)(word & KIND_MASK);
	event->ticks = events->base | word >> TALLY_EVENT_TIME_SHIFT;
	if (event->kind != TALLY_EVENT_OTHER) {
		event->path = number ? hash_map_get(&events->paths, number) : COUNT_ROOT;
		return event->path == HASH_MAP_NONE ? ERROR_CORRUPT : 1;
	}
	event->other = (enum tally_event_other)number;
	if (number == TALLY_EVENT_TIME)
		events->base = word_at(events, 1) >> TALLY_EVENT_TIME_SHIFT << TALLY_EVENT_TIME_SHIFT;
	if (number == TALLY_EVENT_TICK)
		event->pc = word_at(events, 1);
	if (number == TALLY_EVENT_USER) {
		uint64_t zeros = word_at(events, 3);
		event->id = zeros & TALLY_USER_NO_ID ? 0 : word_at(events, 1);
		event->value = zeros & TALLY_USER_NO_VALUE ? 0 : word_at(events, 2);
	}
	return number == TALLY_EVENT_TICK || (number == TALLY_EVENT_USER && (word_at(events, 3) & TALLY_USER_WHOLE));
}

/* A handler that interrupts a hook between its time stamp and its event writes events before it, which are later. Such
 * an event has their time. */
static void order(struct tally_events *events, struct tally_event *event)
{
	if (event->ticks < events->last && events->last - event->ticks < UINT64_C(1) << (TALLY_EVENT_TIME_SHIFT - 1))
		event->ticks = events->last;
	events->last = event->ticks;
}

/* Skips words that were not written: no word of an event is 0. An event that was cut short is the last one of its
 * chunk. */
static void pass_zeros(struct tally_events *events)
{
	while (events->count > 0 && word_at(events, 0) == 0) {
		events->words += sizeof(uint64_t);
		events->count--;
		events->next++;
	}
}

int tally_events_next(struct tally_events *events, struct tally_event *event)
{
	int status = 0;
	while (status == 0) {
		pass_zeros(events);
		uint64_t word = events->count > 0 ? word_at(events, 0) : 0;
		int operands = word ? operands_of(word) : 0;
		if (operands < 0)
			return ERROR_CORRUPT;
		size_t words = (size_t)operands + 1;
		bool is_cut = events->count >= words && word_at(events, words - 1) == 0;
		if (is_cut && operands == 3) {
			/* The program was killed in a handler that had interrupted the event. */
			events->words += words * sizeof(word);
			events->count -= words;
			events->next += words;
			continue;
		}
		if (word == 0 || events->count < words || is_cut) {
			events->count = 0;
			status = begin_next_chunk(events);
			if (status <= 0)
				return status;
			status = 0;
			continue;
		}
		status = understand(events, event);
		if (status > 0)
			order(events, event);
		events->words += words * sizeof(word);
		events->count -= words;
		events->next += words;
	}
	return status;
}

/* --- begin and end --- */

int tally_events_begin(struct tally_events *events, const struct tally *tally, const struct count_thread *thread)
{
	const struct count_tree *tree = &thread->tree;
	*events = (struct tally_events){ .tally = tally, .thread = thread, .chunk_kind = TALLY_EVENTS };
	hash_map_init(&events->paths);
	int status = 0;
	for (size_t i = 0; i < tree->path_count && status == 0; i++)
		if (tree->paths[i].number)
			status = hash_map_put(&events->paths, tree->paths[i].number, (uint32_t)i);
	if (status < 0)
		tally_events_end(events);
	return status;
}

void tally_events_end(struct tally_events *events)
{
	count_source_unload(&events->tally->source, events->loaded);
	hash_map_release(&events->paths);
}

int tally_events_error(const struct count_thread *thread, int code, struct error *error)
{
	if (code == ERROR_CORRUPT)
		return error_set(error, code, "the trace is damaged: invalid events of thread %" PRIu32 "",
				 thread->shared->tid);
	return error_set(error, code, "%s", error_text(code));
}
