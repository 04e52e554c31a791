/*
 * The hot path of a view (docs/definitions.md): from the largest root down to the largest child, as long as that child has at least half
 * of its parent's weight.
 */
#ifndef ANALYZE_HOT_PATH_H
#define ANALYZE_HOT_PATH_H

#include <stdint.h>

#include "analyze/view.h"

/* Returns the next node of the hot path below a node (0: its first node), or PROFILE_NONE at its end. Of children with equal weights, the
 * first in the order of the labels. */
uint32_t hot_path_next(const struct view *view, uint32_t node);

#endif
