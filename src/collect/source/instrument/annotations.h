/*
 * Annotations: the source's own settings for a function, in a comment before it or by the macros of
 * cpprof/profiler.h:
 *
 *     // cpprof: group(io) level(2)                  CPPROF_GROUP("io") CPPROF_LEVEL(2)
 *     // cpprof: hook(count_bytes, file, size)       CPPROF_HOOK(count_bytes, file, size)
 *     // cpprof: off                                 CPPROF_OFF
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_ANNOTATIONS_H
#define COLLECT_SOURCE_INSTRUMENT_ANNOTATIONS_H

#include "collect/source/instrument/source_points.h"

struct annotation {
	const char *group, *hook; /* in the arena; NULL: not annotated */
	int level;                /* 1 to 4; 0: not annotated */
	bool is_off;
	const char *wrong; /* in the arena: a sentence about the first error; NULL: there is none */
};

/* Adds the content of a comment or an attribute to *annotation. Returns false
 * if no line of it begins with "cpprof:". */
bool annotation_parse(struct annotation *annotation, const char *text, size_t size, struct instrument_arena *arena);

/* Adds the content of the comments directly before `start`, separated only by
 * blanks, or between `start` and `open`. */
void annotation_find(struct annotation *annotation, const char *text, size_t start, size_t open,
		     struct instrument_arena *arena);

/* Sets the probe point's group, level, hook and mistake from its annotations, and marks it as skipped if they
 * request it. */
void annotations_take(const struct source_points_function *function);

#endif
