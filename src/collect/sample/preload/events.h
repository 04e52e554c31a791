/* What the connected processes have written, told to the sink in order of time. */
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
	struct preload_slots *slots; /* not owned, nor is: */
	const struct backend_request *request;
	struct preload_files files;
	struct preload_order order;
	struct preload_record record; /* the one that is told */
	uint8_t stack[SAMPLE_STACK_BYTES];
	struct preload_declared declared;
	uint64_t start_ns; /* nothing is older */
	uint64_t now_ns;
	struct preload_process *teller; /* whose record is told; NULL: none is */
	bool holds_code;                /* more of the teller's maps follow: its code need not be loaded yet */
	bool wants_flush;
};

/* NULL: out of memory. */
struct preload_events *preload_events_new(struct preload_slots *slots, const struct backend_request *request);
void preload_events_free(struct preload_events *events); /* NULL is fine */

/* Up to now; `all`: whatever its time. */
void preload_events_drain(struct preload_events *events, bool all, const struct backend_sink *sink);

/* What programs had told when they asked for it is on disk: they are let go on. */
void preload_events_flushed(struct preload_events *events);

#endif
