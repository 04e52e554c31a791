/*
 * The kernel's tracepoint task:task_newtask, which occurs in a thread that is about to start another one.
 * Its data identify the new thread.
 */
#ifndef COLLECT_SAMPLE_STATE_NEW_TASK_H
#define COLLECT_SAMPLE_STATE_NEW_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct new_task {
	uint64_t config; /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
	/* Offsets of the fields in the data. */
	size_t pid_offset, flags_offset;
};

/* Finds the tracepoint in tracefs. Returns false if tracefs cannot be read here, or not by us. */
bool new_task_find(struct new_task *format);

/* Reads the tracepoint's `format` file. Returns false if the file lacks one of the fields. */
bool new_task_parse(struct new_task *format, FILE *file);

/* Reads the id of the new thread, and whether it is a thread of the same process (otherwise: of a new one). Returns
 * false if the data are too short. */
bool new_task_read(const struct new_task *format, const uint8_t *data, size_t bytes, uint32_t *tid, bool *is_thread);

#endif
