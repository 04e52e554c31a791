/* The functions of interpreted programs: the frames of the interpreter in the present thread (abi/interpreter.h). */
#ifndef COLLECT_AGENT_CORE_INTERPRETED_H
#define COLLECT_AGENT_CORE_INTERPRETED_H

#include "collect/agent/core/runtime.h"

/* Notes the frames of the thread's interpreter for a sample that was taken at `time_ns`, and
 * writes descriptions of new functions into the ring. Does nothing where the process has no
 * interpreter. Async-signal-safe. */
void interpreted_walk(struct runtime_thread *thread, uint64_t time_ns);

/* Forgets the frames: the present walk is of no sample. */
void interpreted_clear(struct runtime_thread *thread);

/* Returns the noted entries, and sets *count; *end is an enum interpreted_end. */
const struct interpreted_frame *interpreted_entries(const struct runtime_thread *thread, uint16_t *count, uint8_t *end);

/* After a fork: the monitor has no descriptions of this process. */
void interpreted_forked(void);

/* Releases the thread's memory. */
void interpreted_release(struct runtime_thread *thread);

#endif
