/*
 * The kernel's own list of its tracepoints: the file system tracefs. Where it is
 * not mounted it is mounted for us alone, at no place: nobody else sees it and
 * it is gone with the last descriptor.
 */
#ifndef COLLECT_SAMPLE_PROBES_TRACEFS_H
#define COLLECT_SAMPLE_PROBES_TRACEFS_H

#include "base/error.h"

/* A descriptor of its root folder, which the caller closes. Errors: ERROR_PERMISSION
 * or ERROR_UNSUPPORTED, with the remedy; ERROR_SYSTEM. */
int tracefs_open(struct error *error);

#endif
