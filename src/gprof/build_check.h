/* Whether a GMON and an image are of one build. */
#ifndef GPROF_BUILD_CHECK_H
#define GPROF_BUILD_CHECK_H

#include <stddef.h>

#include "gprof/gmon.h"
#include "gprof/image.h"

/* Counts the arcs whose called address is neither a function's first address nor
 * that of a hook's call: with any, the GMON is of another program or build. */
size_t gmon_odd_arcs(const struct gmon *gmon, const struct image *image);

#endif
