/*
 * What the monitor does with what a backend tells it: the sink. It holds the
 * profile that grows, and knows nothing of waiting, signals or the target's life.
 */
#ifndef COLLECT_SAMPLE_RECORDER_H
#define COLLECT_SAMPLE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/stacks/stack.h"
#include "collect/sample/state/label_numbers.h"
#include "collect/sample/state/modules.h"
#include "collect/sample/state/processes.h"
#include "profile/profile.h"

/* How a backend that walks stacks is told of a process's code: see load_code in
 * backend.h. Failures are the backend's to act upon; the recorder counts them. */
typedef int recorder_load_code(void *context, uint32_t pid, const struct backend_code *code, size_t count);

/* For who looks at single events: a sample that was just added, and where it is in the
 * profile. */
struct recorder_place {
	uint32_t thread, node, label_set;
};
typedef void recorder_on_event(void *context, const struct backend_sample *sample, const struct recorder_place *place);

struct recorder {
	struct profile *profile; /* owned, and so are the next three */
	struct modules *modules;
	struct processes *processes;
	struct stacks *stacks;
	uint64_t samples;
	uint64_t hits[RESOURCE_REQUESTS_MAX]; /* by request */
	uint64_t throttled;
	uint64_t lost_events;
	recorder_load_code *load_code; /* NULL: nobody asks */
	void *load_context;
	uint64_t codes_not_loaded; /* times that load_code failed */
	struct backend_code *code; /* of one process, to be told; owned */
	size_t code_capacity;
	recorder_on_event *on_event; /* NULL: nobody looks */
	void *event_context;
	struct label_numbers labels;
	uint32_t marker_location; /* of the nodes that say that a thread is started; PROFILE_NONE: none yet */
	bool out_of_memory;       /* no more samples are taken in */
};

int recorder_init(struct recorder *recorder, struct error *error);
void recorder_release(struct recorder *recorder);

/* The sink that feeds this recorder. */
struct backend_sink recorder_sink(struct recorder *recorder);

/* From now on, whenever a process's executable maps have changed, all that it then
 * has are told to `load_code`; the unwind tables among them live as long as the recorder. */
void recorder_set_code_loader(struct recorder *recorder, recorder_load_code *load_code, void *context);

/* From now on `on_event` is called after each sample that was added. */
void recorder_set_observer(struct recorder *recorder, recorder_on_event *on_event, void *context);

/* Describes the requests as the profile's resources, in their order. */
int recorder_add_resources(struct recorder *recorder, const struct backend_request *request, const char *backend);

#endif
