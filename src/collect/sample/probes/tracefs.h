/*
 * The kernel's own list of its tracepoints: the file system tracefs. Where it is
 * not mounted we mount it for ourselves, in no folder: no other process sees it,
 * and it is gone with the last descriptor.
 */
#ifndef COLLECT_SAMPLE_PROBES_TRACEFS_H
#define COLLECT_SAMPLE_PROBES_TRACEFS_H

#include "base/error.h"

/* Returns a descriptor of its root folder, which the caller closes. Otherwise returns ERROR_PERMISSION or
 * ERROR_UNSUPPORTED, with the remedy, or ERROR_SYSTEM. */
int tracefs_open(struct error *error);
/* Returns 0 if tracefs_open() succeeds here, or its error. */
int tracefs_access(struct error *error);

#endif
