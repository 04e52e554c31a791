/* The resources of its own that the target declares (cpprof_resource): the
 * requested ones, and the names of others. */
#ifndef COLLECT_SAMPLE_PRELOAD_DECLARED_H
#define COLLECT_SAMPLE_PRELOAD_DECLARED_H

#include <stdint.h>

#include "abi/channel.h"
#include "collect/sample/backend.h"

enum { DECLARED_NAMES = 8 }; /* a finding names no more */

struct preload_declared {
	uint32_t requests; /* those whose resource was declared, or-ed */
	uint32_t name_count;
	char names[DECLARED_NAMES][CHANNEL_NAME_BYTES]; /* of other resources */
};

/* A process declared the resource of this request. */
void preload_declared_request(struct preload_declared *declared, uint32_t request);
/* A process declared a resource of this name, which was not requested. */
void preload_declared_other(struct preload_declared *declared, const char *name);

/* Adds a finding for each requested resource that no process declared. */
void preload_declared_add_findings(const struct preload_declared *declared, const struct backend_request *request,
				   struct profile *profile);

#endif
