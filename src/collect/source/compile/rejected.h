/* The probe points of a copy that the compiler rejects, by its messages. */
#ifndef COLLECT_SOURCE_COMPILE_REJECTED_H
#define COLLECT_SOURCE_COMPILE_REJECTED_H

#include <stdbool.h>

#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"

/* Excludes what the errors in `messages`, which have the names of the originals, are about: the hooks of the probe
 * points in their lines; where a line has no hook, the probe points; and if no line has a probe point, the functions
 * that contain such lines. Returns true if it excluded any: another attempt may succeed. */
bool rejected_points_except(struct selection *selection, const struct instrument_result *result, const char *messages);

#endif
