/* Chooses the resources of a run, and the backend that measures them. */
#ifndef COLLECT_SAMPLE_PLAN_H
#define COLLECT_SAMPLE_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/record_options.h"

struct plan {
	const struct backend_vtable *vtable;
	struct backend_request request; /* points to `resources`, so a plan must not be copied */
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	bool for_labels;       /* the backend was chosen because it records labels: see plan_for_labels */
	bool user_by_default;  /* user time is measured because CPU time is not permitted: without -r, or with others */
	char passed_over[320]; /* why a preferred backend was not used: "bpf: not permitted"; "" if it was */
};

/* Chooses the first backend that accepts everything requested, and fills in the request except the
 * command's path. Returns 0, or an error with the most helpful reason if no backend accepts everything. */
int plan_make(struct plan *plan, const struct record_options *options, struct error *error);

/* Called when the command labels its work: chooses the first backend that records labels and accepts everything, unless
 * the user chose the backend or there is none. Returns whether the plan's backend records labels. */
bool plan_for_labels(struct plan *plan, const struct record_options *options);

/* Chooses the next backend that accepts everything, after the chosen one failed to open because
 * of `why`. A backend that was chosen for labels gives way to the most preferred one. Returns
 * false if there is none, if the user chose the backend, or if `why` is not a matter of
 * permission or support. */
bool plan_next(struct plan *plan, const struct record_options *options, const struct error *why);

#endif
