/* A process that is already running: its threads and what it has mapped, told
 * to a sink as if the backend had seen them come. */
#ifndef RECORD_ATTACH_H
#define RECORD_ATTACH_H

#include <sys/types.h>

#include "base/error.h"
#include "record/backend.h"

/* Watches every thread of a process, those included that start meanwhile, and
 * tells `sink` their names and the process's maps. Errors: no such process, not
 * permitted, or the backend's. */
int attach_process(const struct backend_vtable *vtable, struct backend *backend, pid_t pid,
		   const struct backend_sink *sink, struct error *error);

#endif
