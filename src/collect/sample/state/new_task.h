/*
 * The kernel's tracepoint task:task_newtask, which a thread passes that is about
 * to start another: its data tell whom.
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

/* Finds it in tracefs. False: that cannot be read here, or not by us. */
bool new_task_find(struct new_task *format);

/* Reads the tracepoint's `format` file. False: it is none of this tracepoint. */
bool new_task_parse(struct new_task *format, FILE *file);

/* Returns whether the data describe a thread of the same process (not a new
 * process), and its id. */
bool new_task_is_thread(const struct new_task *format, const uint8_t *data, size_t bytes, uint32_t *tid);

#endif
