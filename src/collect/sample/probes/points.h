/* Collects probe points. Private to probes/. */
#ifndef COLLECT_SAMPLE_PROBES_POINTS_H
#define COLLECT_SAMPLE_PROBES_POINTS_H

#include "collect/sample/probes/probe_points.h"

/* Adds a copy of `point` in the file `path`, unless there is one at that offset. Returns 0 or
 * ERROR_MEMORY. */
int points_add(struct probe_points *points, const char *path, const struct probe_point *point);

#endif
