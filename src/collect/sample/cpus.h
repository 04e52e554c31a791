/* The CPUs that are online: perf events and rings are opened on each of them. */
#ifndef COLLECT_SAMPLE_CPUS_H
#define COLLECT_SAMPLE_CPUS_H

#include <stddef.h>

#include "base/error.h"

struct cpus {
	int *ids; /* owned; in ascending order, possibly with gaps */
	size_t count;
};

/* Fills in `cpus`, which the caller releases even after an error. Returns 0, ERROR_MEMORY or ERROR_SYSTEM. */
int cpus_find(struct cpus *cpus, struct error *error);
void cpus_release(struct cpus *cpus);

#endif
