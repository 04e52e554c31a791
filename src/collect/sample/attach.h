/* Processes that are already running: their threads and what they have mapped,
 * told to a sink as if the backend had seen them come. */
#ifndef COLLECT_SAMPLE_ATTACH_H
#define COLLECT_SAMPLE_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/backend.h"

/* Watches every thread of a process, those included that start meanwhile, and
 * tells `sink` their names and the process's executable maps, with `data_maps` all.
 * Errors: no such process, not permitted, or the backend's. */
int attach_process(const struct backend_vtable *vtable, struct backend *backend, pid_t pid, bool data_maps,
		   const struct backend_sink *sink, struct error *error);

/* Watches the whole machine, and tells the same of every process that there is.
 * Errors: not permitted, or the backend's. */
int attach_everything(const struct backend_vtable *vtable, struct backend *backend, bool data_maps,
		      const struct backend_sink *sink, struct error *error);

#endif
