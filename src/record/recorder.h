/*
 * What the monitor does with what a backend tells it: the sink. It holds the
 * profile that grows, and knows nothing of waiting, signals or the target's life.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "record/backend.h"
#include "record/modules.h"
#include "record/processes.h"
#include "record/stack.h"

struct recorder {
	struct profile *profile; /* owned, and so are the next three */
	struct modules *modules;
	struct processes *processes;
	struct stacks *stacks;
	uint64_t samples;
	uint64_t hits[RESOURCE_REQUESTS_MAX]; /* by request */
	uint64_t throttled;
	uint64_t lost_events;
	bool out_of_memory; /* no more samples are taken in */
};

int recorder_init(struct recorder *recorder, struct error *error);
void recorder_release(struct recorder *recorder);

/* The sink that feeds this recorder. */
struct backend_sink recorder_sink(struct recorder *recorder);

/* Describes the requests as the profile's resources, in their order. */
int recorder_add_resources(struct recorder *recorder, const struct backend_request *request, const char *backend);

#endif
