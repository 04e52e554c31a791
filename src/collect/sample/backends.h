/* The table of backends. A new backend is a new row. */
#ifndef COLLECT_SAMPLE_BACKENDS_H
#define COLLECT_SAMPLE_BACKENDS_H

#include "base/error.h"
#include "collect/sample/backend.h"

/* In order of preference: a run uses the first backend that can measure everything requested. Ends with
 * NULL. `none` is not in the table, because it measures nothing. */
extern const struct backend_vtable *const record_backends[];

/* Finds a backend by name, `none` included. Returns NULL if there is none of that name; `error`
 * (ERROR_USAGE) then lists similar names and all names. */
const struct backend_vtable *backend_find(const char *name, struct error *error);

/* The backends that can measure a resource here. */
struct backends_answer {
	char names[64];        /* "bpf,perf", in order of preference; "": none */
	const char *user_only; /* one of them that observes user mode only; NULL: none does */
	/* if no backend can: the reason of the last one that supports the resource, which has the lowest
	 * requirements */
	struct error why_not;
};

/* Probes for each backend whether it can measure the resource with its default interval. */
void backends_probe(const struct resource_row *row, struct backends_answer *answer);

#endif
