/*
 * Receives what a backend reports (struct backend_sink) and adds it to a profile: samples, and the maps, forks, names and exits of
 * processes. It does not depend on waiting, signals, or the start and end of the target.
 *
 * Life cycle: sample_sink_init, sample_sink_for_backend, the backend's calls, sample_sink_release.
 */
#ifndef COLLECT_SAMPLE_SAMPLE_SINK_H
#define COLLECT_SAMPLE_SAMPLE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "collect/sample/backend.h"
#include "collect/sample/stacks/stack.h"
#include "collect/sample/state/label_numbers.h"
#include "collect/sample/state/modules.h"
#include "collect/sample/state/processes.h"
#include "profile/profile.h"

/* Passes a process's code to a backend that unwinds stacks itself: see load_code in backend.h. The backend
 * handles failures; the sink counts them. */
typedef int sample_sink_load_code(void *context, uint32_t pid, const struct backend_code *code, size_t count);

/* Where a sample that was just added is in the profile, for observers of single events. */
struct sample_sink_position {
	uint32_t thread, node, label_set;
};
typedef void sample_sink_on_event(void *context, const struct backend_sample *sample,
				  const struct sample_sink_position *position);

struct sample_sink {
	struct profile *profile; /* owned, and so are the next three */
	struct modules *modules;
	struct processes *processes;
	struct stacks *stacks;
	uint64_t samples;
	uint64_t
		weight; /* of the hits of each sample: a sample is taken at so many intervals of the profile; 1 or more */
	uint64_t hits[RESOURCE_REQUESTS_MAX];  /* by request */
	double squares[RESOURCE_REQUESTS_MAX]; /* ... and the sums of their squares, over samples */
	uint64_t throttled;
	uint64_t lost_events;
	sample_sink_load_code *load_code; /* NULL: the backend does not use it */
	void *load_context;
	struct hash_map changed;   /* the processes whose code has changed since it was passed */
	uint64_t codes_not_loaded; /* times that load_code failed */
	bool loads_late;           /* see sample_sink_load_late */
	struct backend_code *code; /* of one process, for load_code; owned */
	size_t code_capacity;
	sample_sink_on_event *on_event; /* NULL: no observer */
	void *event_context;
	struct label_numbers labels;
	uint32_t marker_location;   /* of the nodes that mark the start of a thread; PROFILE_NONE: none yet */
	bool out_of_memory;         /* no more samples are added */
	uint64_t dropped_no_memory; /* samples that were not added because of that */
	bool is_full;               /* no samples are added while this is set: the disk is full */
	uint64_t dropped_disk_full; /* samples that were not added because of that */
	uint64_t dropped_hits[RESOURCE_REQUESTS_MAX]; /* of both, by request */
};

int sample_sink_init(struct sample_sink *sink, struct error *error);
void sample_sink_release(struct sample_sink *sink);

/* Returns the functions with which a backend reports to this sink. */
struct backend_sink sample_sink_for_backend(struct sample_sink *sink);

/* From now on, in each call of `settled`, passes the executable maps of each process whose maps
 * have changed to `load_code`. Their unwind tables are valid until sample_sink_release. */
void sample_sink_set_code_loader(struct sample_sink *sink, sample_sink_load_code *load_code, void *context);

/* Before the first event: a process's code is passed only after samples of it have come whose stacks the backend has copied, because it does
 * not know the code; and its user and control group are read with its first sample. So programs that start and end without a sample cost next
 * to nothing. For a few hundred samples a second. */
void sample_sink_load_late(struct sample_sink *sink);

/* From now on, calls `on_event` after each sample that was added. */
void sample_sink_set_observer(struct sample_sink *sink, sample_sink_on_event *on_event, void *context);

/* Adds hits for use that was counted but not sampled: without a time, a thread or a path, as "[not sampled]".
 * Returns 0 or a negative error. */
int sample_sink_add_unsampled(struct sample_sink *sink, uint32_t request, uint64_t hits);

/* Adds the requests as the profile's resources, in their order. Returns 0 or a negative error. */
int sample_sink_add_resources(struct sample_sink *sink, const struct backend_request *request, const char *backend);

#endif
