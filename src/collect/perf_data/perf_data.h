/*
 * Makes a profile of a perf.data file. The records are reported to a sample sink (collect/sample/sample_sink.h), like the
 * records of a backend: it follows processes and maps, unwinds the stacks that `perf record --call-graph dwarf` has copied,
 * and builds the tree of paths. Files are read by their paths, and count only if their build-id, or
 * their device and inode, are as in the recording.
 */
#ifndef COLLECT_PERF_DATA_PERF_DATA_H
#define COLLECT_PERF_DATA_PERF_DATA_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* Returns a new profile whose addresses have names, or NULL with the reason in `error`: ERROR_UNSUPPORTED without the collectors. */
struct profile *perf_data_read(FILE *in, const char *name, struct error *error);

/* The resource that an event of perf becomes. The texts are constants. */
struct perf_data_resource {
	const char *name, *title, *unit;
};

/* Finds the resource of an event by the name that perf prints, "cpu-clock", without what follows its first colon. Returns false if it is none of
 * ours: it then keeps its name. */
bool perf_data_resource(const char *event, struct perf_data_resource *resource);

#endif
