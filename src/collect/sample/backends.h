/* The table of backends. A new one is a row here. */
#ifndef COLLECT_SAMPLE_BACKENDS_H
#define COLLECT_SAMPLE_BACKENDS_H

#include "base/error.h"
#include "collect/sample/backend.h"

/* In order of preference: a run is served by the first that can measure all that
 * is asked for. Ends with NULL. `none` is not in it: nobody would prefer it. */
extern const struct backend_vtable *const record_backends[];

/* By name, `none` too. NULL: there is none of that name; `error` (ERROR_USAGE)
 * lists those like it, or all. */
const struct backend_vtable *backend_find(const char *name, struct error *error);

#endif
