/*
 * Prints single events while they happen: a destination that collects the events of the monitor, names their
 * addresses at each flush, and prints one line for each event.
 *
 *   0.001234 1234/worker syscalls 1 call read = 4096 (main parse read)
 *   0.002001 1234/worker page-faults 1 fault at 0x7f32c0de0010 (main parse)
 *   0.003456 1234/worker allocs 1 allocation tenant=acme (main serve malloc)
 */
#ifndef CMD_TRACE_EVENTS_H
#define CMD_TRACE_EVENTS_H

#include <stdio.h>

#include "analyze/shown_path.h"
#include "base/file_place.h"
#include "collect/sample/destination.h"
#include "collect/sample/event_filter.h"
#include "resources/resources.h"

struct trace_event {
	uint64_t time_ns;
	uint64_t amount; /* gticks */
	uint32_t thread, node, label_set, request;
	int syscall; /* BACKEND_NO_SYSCALL: none */
	int64_t syscall_result;
	bool has_touched;
	uint64_t touched;
};

/* The sums of one resource, for the closing lines. */
struct trace_sum {
	uint64_t events, shown;
	uint64_t amount; /* gticks of all events, including those not shown; the kernel's count if it has one */
	uint64_t lost;
};

struct trace_events {
	const char *path;                        /* path of the output, owned by the caller; NULL: standard error */
	FILE *out;                               /* NULL unless it is open */
	struct file_place place;                 /* of the output, if it is a file */
	char *temporary;                         /* its name until the command runs; NULL otherwise */
	const struct resource_request *requests; /* owned by the caller */
	size_t request_count;
	struct event_filter filter; /* owned */
	struct trace_sum sums[RESOURCE_REQUESTS_MAX];
	uint64_t lost;    /* lost events of all resources that were printed so far */
	uint64_t dropped; /* events for which there was no memory, or that came after the output had failed */

	struct trace_event *items; /* events since the last flush; owned */
	size_t count, capacity;
	struct shown_path frames;
	bool out_of_memory;
	bool has_failed; /* nothing more is printed */
};

/* Returns the destination that prints. The caller sets `path`, the requests and the filter; the rest begins as 0. */
struct destination trace_destination(struct trace_events *events);
/* Prints "4096 bytes". */
void trace_print_amount(FILE *out, const struct resource_request *request, uint64_t amount);
void trace_events_release(struct trace_events *events);

#endif
