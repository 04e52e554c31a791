#ifndef COLLECT_SAMPLE_NAMESPACES_H
#define COLLECT_SAMPLE_NAMESPACES_H

#include "base/error.h"

/* Refuses to record where /proc shows the processes of another PID namespace, under whose
 * numbers there are other processes, and where cpprof's clock has an unknown offset. Returns 0
 * or ERROR_UNSUPPORTED. */
int namespaces_check(struct error *error);

#endif
