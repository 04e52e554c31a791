/*
 * Waits that do not end: no tick comes in them, and what is waited is counted when they are over. Of
 * a thread that is in one when its process or the recording ends, the monitor counts it: since when,
 * the channel says, and where, a record that the thread wrote when it began.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_WAITS_H
#define COLLECT_SAMPLE_PRELOAD_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/preload/slots.h"

/* Whether a sample's record is of no sample, but says where its thread waits. */
bool preload_waits_is_place(const struct sample_record *record);

/* Keeps it in place of an older one; without memory for it, none is kept. */
void preload_waits_keep(struct preload_thread *thread, const struct preload_record *record);

/* A thread does no more, as of `end_ns`: what it has waited until then is added to the sums, and told
 * with the place, if that is known. Nothing waits since before `start_ns`. `stack`: SAMPLE_STACK_BYTES
 * of room. To be called at most once for a thread. */
void preload_waits_end(struct preload_slots *slots, const struct preload_thread *thread,
		       const struct backend_request *request, uint64_t start_ns, uint64_t end_ns, uint8_t *stack,
		       const struct backend_sink *sink);

#endif
