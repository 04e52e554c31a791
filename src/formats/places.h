/*
 * The locations of pprof and OTLP: a place is a frame, and the place of the frame that it is
 * inlined into. A path is then a list of places, and each place is a list of frames, innermost
 * first:
 *
 *     path     main   parse   (inlined) skip
 *     places   main   [skip, parse]
 */
#ifndef FORMATS_PLACES_H
#define FORMATS_PLACES_H

#include <stdbool.h>

#include "analyze/call_paths.h"
#include "base/hash_map.h"

struct place {
	uint32_t outer; /* index of a place; PROFILE_NONE: it is inlined into none */
	uint32_t frame; /* index in paths->frames */
};

struct places {
	const struct call_paths *paths; /* not owned */
	struct place *items;
	size_t count, capacity;
	uint32_t *of_path; /* per path: its innermost place; that of path 0 is not defined */
	uint32_t *caller;  /* per path: the path of the caller of its innermost place; that of path 0 is not defined */
	struct hash_map by_place; /* (outer, frame) -> place */
};

/* Finds the places of all paths. Returns 0 or ERROR_MEMORY; places_release is due in both cases. */
int places_init(struct places *places, const struct call_paths *paths);
void places_release(struct places *places);

/* Returns an array by place, which the caller frees: whether the paths of hits lead through it.
 * The other places are parts of these. NULL: no memory. */
bool *places_used(const struct places *places, const struct path_hit *hits, size_t count);

#endif
