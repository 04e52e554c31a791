/* Checks whether a GMON and an image belong to one build. */
#ifndef GPROF_BUILD_CHECK_H
#define GPROF_BUILD_CHECK_H

#include <stddef.h>

#include "gprof/gmon.h"
#include "gprof/image.h"

/* Returns the number of arcs with a called address that is neither a function's first address nor the address of a hook's
 * call. If it is not 0, the GMON belongs to another program or build. */
size_t gmon_odd_arcs(const struct gmon *gmon, const struct image *image);

#endif
