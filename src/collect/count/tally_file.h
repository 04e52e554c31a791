/*
 * The file in which the hooks of a command count while it runs: OUTPUT.tally, beside the output. There it is on the
 * disk that is to hold the profile, and remains readable if cpprof is killed.
 *
 *   make --> the command runs and counts --> end --+--> remove      after it was read into a profile
 *                                                  `--> publish     it becomes the output itself
 */
#ifndef COLLECT_COUNT_TALLY_FILE_H
#define COLLECT_COUNT_TALLY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/tally.h"
#include "base/error.h"
#include "base/file_place.h"
#include "collect/sample/backend.h"

struct instrumented_tally {
	struct file_place place;     /* of the output */
	char *path;                  /* of the tally, in the same folder; absolute; owned. NULL: there is no file */
	struct tally_header *header; /* mapped; NULL: not mapped */
	int fd;                      /* -1: closed */
};

/* Creates the file beside `output`. A tally that a killed recorder has left there becomes the output first. If another
 * recorder uses the name, this file gets another one. */
int instrumented_tally_make(struct instrumented_tally *tally, const char *output, enum tally_measurement measurement,
			    const struct backend_request *request, struct error *error);

/* Returns how many processes count in it and still run. */
size_t instrumented_tally_running(const struct instrumented_tally *tally);
/* Returns how many processes have opened it, or tried to. */
uint32_t instrumented_tally_processes(const struct instrumented_tally *tally);

/* Marks the run as over: no further process begins to count in the file, and no chunk is added to it. */
void instrumented_tally_end(struct instrumented_tally *tally);
/* Makes the file the output; an older output is kept as OUTPUT.old. Sets *bytes to the size of the file. */
int instrumented_tally_publish(struct instrumented_tally *tally, uint64_t *bytes, struct error *error);
/* Removes the file and releases the struct. */
void instrumented_tally_remove(struct instrumented_tally *tally);
/* Releases the struct, and leaves the file where it is. {0} with fd -1 is allowed. */
void instrumented_tally_release(struct instrumented_tally *tally);

#endif
