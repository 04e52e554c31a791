/* Reports the records of the connected processes to the sink, in order of time. */
#ifndef COLLECT_SAMPLE_PRELOAD_EVENTS_H
#define COLLECT_SAMPLE_PRELOAD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/preload/declared.h"
#include "collect/sample/preload/order.h"
#include "collect/sample/preload/slots.h"

struct preload_events {
	struct preload_slots *slots; /* not owned; neither is: */
	const struct backend_request *request;
	struct preload_order order;
	struct preload_record record; /* the record that is being reported */
	uint8_t stack[SAMPLE_STACK_BYTES];
	struct preload_declared declared;
	uint64_t start_ns; /* start of the recording: no record is older */
	uint64_t now_ns;
	struct preload_process *current; /* the process whose record is being reported; NULL: none */
	bool wants_flush;
};

/* Returns NULL if memory ran out. */
struct preload_events *preload_events_new(struct preload_slots *slots, const struct backend_request *request);
void preload_events_free(struct preload_events *events); /* NULL is fine */

/* Reports the records up to the present time; with `all`, whatever their time. */
void preload_events_drain(struct preload_events *events, bool all, const struct backend_sink *sink);

/* Called when everything is on disk that programs had recorded before they called cpprof_flush: lets them
 * continue. */
void preload_events_flushed(struct preload_events *events);

#endif
