/*
 * Kinds and levels of probe points. The instrumenter, the descriptors in a program and the tally use the same
 * values. cpprof/profiler.h has them as enum cpprof_kind and enum cpprof_level; collect/agent/probes/registry.c
 * asserts that they are equal.
 */
#ifndef ABI_PROBE_KINDS_H
#define ABI_PROBE_KINDS_H

#include <stdbool.h>

enum probe_kind {
	PROBE_FUNCTION,
	PROBE_REGION, /* the author names it */
	PROBE_LOOP,
	PROBE_CALL,  /* a statement that calls something */
	PROBE_BLOCK, /* counted, not timed */
	PROBE_WAIT,  /* a function that waits for others */
	PROBE_KINDS  /* their number */
};

/* The names in reports, by enum probe_kind. */
#define PROBE_KIND_NAMES                                              \
	{                                                             \
		"function", "region", "loop", "call", "block", "wait" \
	}
_Static_assert(sizeof((const char *const[])PROBE_KIND_NAMES) / sizeof(const char *) == PROBE_KINDS,
	       "each kind of probe point has a name");

/* From coarse to fine. */
enum probe_level { PROBE_LEVEL_FUNCTION = 1, PROBE_LEVEL_LOOP, PROBE_LEVEL_CALL, PROBE_LEVEL_BLOCK };

/* Returns whether the probe point is a whole function that is called, not a part of one. */
static inline bool probe_is_function(unsigned kind)
{
	return kind == PROBE_FUNCTION || kind == PROBE_WAIT;
}

#endif
