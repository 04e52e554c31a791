/*
 * Goes through the events of a thread's trace (TALLY_TRACE), in the order in which it wrote them:
 *
 *     tally_events_begin, tally_events_next until it does not return 1, tally_events_end
 */
#ifndef COLLECT_COUNT_EVENTS_H
#define COLLECT_COUNT_EVENTS_H

#include "collect/count/tally.h"

struct tally_event {
	uint64_t ticks; /* when it was; about, a handler's come before what it has interrupted */
	enum tally_event_kind kind;
	enum tally_event_other other; /* of TALLY_EVENT_OTHER: TALLY_EVENT_TICK or TALLY_EVENT_USER */
	uint32_t path;                /* of ENTER and LEAVE: which is current from then on */
	uint64_t pc;                  /* of TALLY_EVENT_TICK, where the thread was; 1: not known */
	uint64_t id, value;           /* of TALLY_EVENT_USER */
};

/* The iterator's own. */
struct tally_events {
	const struct tally *tally;
	const struct count_thread *thread;
	const struct count_chunk *chunk; /* NULL: none so far */
	uint32_t chunk_kind;             /* TALLY_EVENTS, then TALLY_RING */
	const uint8_t *words;            /* those of the chunk that are left */
	size_t count;
	uint64_t next;         /* number of the first of these words, as the thread counts them */
	uint64_t base;         /* the upper half of time stamps */
	struct hash_map paths; /* by their numbers */
};

/* The thread's tree is to be there, and it and the tally to outlive the iterator. 0, ERROR_MEMORY or ERROR_LIMIT; then
 * there is nothing to end. */
int tally_events_begin(struct tally_events *events, const struct tally *tally, const struct count_thread *thread);
/* 1; 0: there are no more; ERROR_CORRUPT: what comes makes no sense. */
int tally_events_next(struct tally_events *events, struct tally_event *event);
void tally_events_end(struct tally_events *events);

/* Says in which thread: ERROR_CORRUPT, or another code as it is. */
int tally_events_error(const struct count_thread *thread, int code, struct error *error);

#endif
