/*
 * Iterates over the events of a thread's trace (TALLY_TRACE), in the order in which the thread wrote them:
 *
 *     tally_events_begin, tally_events_next until it does not return 1, tally_events_end
 */
#ifndef COLLECT_COUNT_EVENTS_H
#define COLLECT_COUNT_EVENTS_H

#include "collect/count/tally.h"

struct tally_event {
	uint64_t ticks; /* time stamp; not always ascending, see replay.c */
	enum tally_event_kind kind;
	enum tally_event_other other; /* for TALLY_EVENT_OTHER: TALLY_EVENT_TICK or TALLY_EVENT_USER */
	uint32_t path;                /* for ENTER and LEAVE: the path that is current from then on */
	uint64_t pc;                  /* for TALLY_EVENT_TICK: where the thread was; 1: not known */
	uint64_t id, value;           /* for TALLY_EVENT_USER */
};

/* Private to the iterator. */
struct tally_events {
	const struct tally *tally;
	const struct count_thread *thread;
	const struct count_chunk *chunk; /* NULL: before the first one */
	uint32_t chunk_kind;             /* TALLY_EVENTS, then TALLY_RING */
	const uint8_t *loaded;           /* the EVENTS chunk; see count_source_unload */
	const uint8_t *words;            /* the remaining `count` words of the chunk */
	size_t count;
	uint64_t next;         /* number of the first of these words, as the thread counts them */
	uint64_t base;         /* upper half of the time stamps */
	uint64_t last;         /* ticks of the last event */
	struct hash_map paths; /* paths by their numbers (tally_node.number) */
};

/* The thread's tree must exist; it and the tally must outlive the iterator. Returns 0, ERROR_MEMORY or ERROR_LIMIT;
 * after an error there is nothing to end. */
int tally_events_begin(struct tally_events *events, const struct tally *tally, const struct count_thread *thread);
/* Returns 1, 0 if there are no more events, ERROR_CORRUPT if the next words are no valid event, ERROR_TRUNCATED if the
 * file does not have them any more, or ERROR_MEMORY. */
int tally_events_next(struct tally_events *events, struct tally_event *event);
void tally_events_end(struct tally_events *events);

/* Sets `error` and returns `code`. The message for ERROR_CORRUPT names the thread; other codes have their usual
 * text. */
int tally_events_error(const struct count_thread *thread, int code, struct error *error);

#endif
