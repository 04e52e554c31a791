/*
 * Counts waits that do not end. No tick comes during such a wait, and the agent counts a wait only when it
 * is over. If a thread still waits when its process or the recording ends, the monitor counts the wait:
 * the channel has its start, and a record that the thread wrote at the start has the stack.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_WAITS_H
#define COLLECT_SAMPLE_PRELOAD_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/preload/slots.h"

/* Returns whether a record is not a sample, but the stack in which its thread waits. */
bool preload_waits_is_stack(const struct sample_record *record);

/* Keeps the record instead of an older one. If memory runs out, none is kept. */
void preload_waits_keep(struct preload_thread *thread, const struct preload_record *record);

/* Ends the wait of a thread at `end_ns`: adds its time to the sums, and reports it with the stack, if that
 * is known. No wait begins before `start_ns`. `stack` has room for SAMPLE_STACK_BYTES. Called at most once
 * for a thread. */
void preload_waits_end(struct preload_slots *slots, const struct preload_thread *thread,
		       const struct backend_request *request, uint64_t start_ns, uint64_t end_ns, uint8_t *stack,
		       const struct backend_sink *sink);

#endif
