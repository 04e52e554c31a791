/* Reports the records of the connected processes to the sink, in order of time. */
#ifndef COLLECT_SAMPLE_PRELOAD_EVENTS_H
#define COLLECT_SAMPLE_PRELOAD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"
#include "collect/sample/backend.h"
#include "collect/sample/preload/slots.h"

/* order.c: the threads, ordered by the time of their next record: a heap. */

struct preload_order {
	size_t count;
	struct preload_turn {
		uint64_t time_ns;
		uint32_t thread; /* number of its slot */
	} turns[CHANNEL_THREADS];
};

/* Adds a thread, which must not be in the heap already. */
void preload_order_put(struct preload_order *order, uint64_t time_ns, uint32_t thread);
/* Removes the thread with the earliest record, and returns its number. The heap must not be empty. */
uint32_t preload_order_take(struct preload_order *order);

/* declared.c: the resources of its own that the target declares (cpprof_resource): the
 * requested ones, and the names of others. */

enum { DECLARED_NAMES = 8 }; /* a finding names no more */

struct preload_declared {
	uint32_t requests; /* those whose resource was declared, or-ed */
	uint32_t name_count;
	char names[DECLARED_NAMES][CHANNEL_NAME_BYTES]; /* of other resources */
};

/* A process declared the resource of this request. */
void preload_declared_request(struct preload_declared *declared, uint32_t request);
/* A process declared a resource of this name, which was not requested. */
void preload_declared_other(struct preload_declared *declared, const char *name);

/* Adds a finding for each requested resource that no process declared. */
void preload_declared_add_findings(const struct preload_declared *declared, const struct backend_request *request,
				   struct profile *profile);

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

/*
 * waits.c: counts waits that do not end. No tick comes during such a wait, and the agent counts a wait only when it
 * is over. If a thread still waits when its process or the recording ends, the monitor counts the wait:
 * the channel has its start, and a record that the thread wrote at the start has the stack.
 */

/* Returns whether a record is not a sample, but the stack in which its thread waits. */
bool preload_waits_is_stack(const struct sample_record *record);

/* Keeps the record instead of an older one. If memory runs out, none is kept. */
void preload_waits_store(struct preload_thread *thread, const struct preload_record *record);

/* Ends the wait of a thread at `end_ns`: adds its time to the sums, and reports it with the stack, if that
 * is known. No wait begins before `start_ns`. `stack` has room for SAMPLE_STACK_BYTES. Called at most once
 * for a thread. */
void preload_waits_end(struct preload_slots *slots, const struct preload_thread *thread,
		       const struct backend_request *request, uint64_t start_ns, uint64_t end_ns, uint8_t *stack,
		       const struct backend_sink *sink);

#endif
