/* The provider of names for generated code, from the perf map that its runtime writes (frames/jit/perf_map.h). A recorder opens the
 * map while the process runs. */
#ifndef FRAMES_JIT_JIT_H
#define FRAMES_JIT_JIT_H

#include "frames/provider.h"

extern const struct frames_provider jit_provider;

#endif
