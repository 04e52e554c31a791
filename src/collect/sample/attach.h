/* Attaches to processes that are already running. Their threads and mappings are reported to a sink as if
 * the backend had observed their start. */
#ifndef COLLECT_SAMPLE_ATTACH_H
#define COLLECT_SAMPLE_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/process_list.h"

/* Watches every thread of a process, including threads that start meanwhile, and reports to `sink` their
 * names and the process's executable maps (with `data_maps`, all its maps). Returns 0, or an error: no
 * such process, not permitted, or the backend's. */
int attach_process(const struct backend_vtable *vtable, struct backend *backend, pid_t pid, bool data_maps,
		   const struct backend_sink *sink, struct error *error);

/* Watches the listed processes and, with `children`, the running processes that these have started, which it adds to
 * the list. Sets *refused to the number of processes that are not watched because that is not permitted. Returns 0,
 * or an error: one of the processes that the user gave by number cannot be watched, or none of the others. */
int attach_processes(const struct backend_vtable *vtable, struct backend *backend, struct process_list *list,
		     bool children, bool data_maps, const struct backend_sink *sink, size_t *refused,
		     struct error *error);

/* Watches the whole machine, and reports the same for every running process. Returns 0, or an error: not
 * permitted, or the backend's. */
int attach_everything(const struct backend_vtable *vtable, struct backend *backend, bool data_maps,
		      const struct backend_sink *sink, struct error *error);

#endif
