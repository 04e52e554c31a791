/* Which resources are measured in a run, and by which backend. */
#ifndef COLLECT_SAMPLE_PLAN_H
#define COLLECT_SAMPLE_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/monitor.h"

struct plan {
	const struct backend_vtable *vtable;
	struct backend_request request; /* points to `resources`: a plan is not copied */
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	bool user_by_default;  /* nothing was asked for, and CPU time would have been the answer */
	char passed_over[160]; /* why a backend that is preferred does not serve: "bpf: not permitted"; "" if it does */
};

/* Finds the first backend that accepts everything that is asked for, and fills in
 * the request but for the command's path. What no backend can measure is refused:
 * the error is what would help most. */
int plan_make(struct plan *plan, const struct record_options *options, struct error *error);

/* Takes the next backend that accepts everything, for when `why` kept this one
 * from opening. False: there is none, or the user wants this one. */
bool plan_next(struct plan *plan, const struct record_options *options, const struct error *why);

#endif
