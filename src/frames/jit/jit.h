/* The provider of names for generated code, from the perf map (frames/jit/perf_map.h) or the jitdump
 * (frames/jit/jitdump.h) that its runtime writes. A recorder opens the file while the process runs. */
#ifndef FRAMES_JIT_JIT_H
#define FRAMES_JIT_JIT_H

#include "frames/provider.h"

extern const struct frames_provider jit_provider;

#endif
