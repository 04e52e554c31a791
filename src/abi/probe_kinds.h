/*
 * Kinds and levels of probe points: as the instrumenter finds them, as their descriptors in a
 * program have them (cpprof/profiler.h: enum cpprof_kind and enum cpprof_level, which are
 * these; collect/agent/probes/registry.c asserts it), and as a tally keeps them.
 */
#ifndef ABI_PROBE_KINDS_H
#define ABI_PROBE_KINDS_H

#include <stdbool.h>

enum probe_kind {
	PROBE_FUNCTION,
	PROBE_REGION, /* named by its author */
	PROBE_LOOP,
	PROBE_CALL,  /* a statement that calls something */
	PROBE_BLOCK, /* counted, not timed */
	PROBE_WAIT   /* a function that waits for others */
};

/* From coarse to fine. */
enum probe_level { PROBE_LEVEL_FUNCTION = 1, PROBE_LEVEL_LOOP, PROBE_LEVEL_CALL, PROBE_LEVEL_BLOCK };

/* Whether it is a function that is called, not a part of one. */
static inline bool probe_is_function(unsigned kind)
{
	return kind == PROBE_FUNCTION || kind == PROBE_WAIT;
}

#endif
