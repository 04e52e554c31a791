/* Features that need libcpprof inside the process: backends that observe the process from outside refuse
 * them, and name the remedy. */
#ifndef COLLECT_SAMPLE_INSIDE_H
#define COLLECT_SAMPLE_INSIDE_H

#include "base/error.h"
#include "collect/sample/backend.h"

/* Returns 0, or ERROR_UNSUPPORTED if the resource cannot be observed from outside of the process. */
int inside_refuse_resource(const struct resource_request *request, struct error *error);

/* Returns ERROR_UNSUPPORTED: a call of cpprof_start cannot be observed from outside of the process. */
int inside_refuse_pause(struct error *error);

#endif
