/* What only libcpprof inside the process can do: backends that look at it from outside
 * refuse it, with the remedy. */
#ifndef COLLECT_SAMPLE_INSIDE_H
#define COLLECT_SAMPLE_INSIDE_H

#include "base/error.h"
#include "collect/sample/backend.h"

/* 0, or ERROR_UNSUPPORTED: nothing outside sees this resource. */
int inside_refuse_resource(const struct resource_request *request, struct error *error);

/* ERROR_UNSUPPORTED: nobody outside hears the program call cpprof_start. */
int inside_refuse_pause(struct error *error);

#endif
