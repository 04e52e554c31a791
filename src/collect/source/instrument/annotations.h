/*
 * What the source itself says of a function, in a comment before it or by the macros of cpprof/profiler.h:
 *
 *     // cpprof: group(io) level(2)                  CPPROF_GROUP("io") CPPROF_LEVEL(2)
 *     // cpprof: hook(count_bytes, file, size)       CPPROF_HOOK(count_bytes, file, size)
 *     // cpprof: off                                 CPPROF_OFF
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_ANNOTATIONS_H
#define COLLECT_SOURCE_INSTRUMENT_ANNOTATIONS_H

#include "collect/source/instrument/source_points.h"

struct annotation {
	const char *group, *hook; /* in the arena; NULL: nothing is said of it */
	int level;                /* 1 to 4; 0: nothing is said of it */
	bool is_off;
	const char *wrong; /* in the arena: a sentence on the first thing that is not understood; NULL */
};

/* Adds what a comment or an attribute says to *annotation. False: it is none of ours, no line of it
 * begins with "cpprof:". */
bool annotation_parse(struct annotation *annotation, const char *text, size_t size, struct instrument_arena *arena);

/* ... what the comments say that stand right before `start`, with nothing but blanks between, or between it and `open`. */
void annotation_find(struct annotation *annotation, const char *text, size_t start, size_t open,
		     struct instrument_arena *arena);

/* Sets the probe point's group, level and hook, and skips it where that is said. */
void annotations_take(const struct source_points_function *function);

#endif
