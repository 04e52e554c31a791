/*
 * The file that the hooks of a command count in, while it runs: OUTPUT.tally, beside the output, so that it is on a
 * disk that is to hold the profile, and can be read whatever becomes of us.
 *
 *   make --> the command runs and counts --> end --+--> remove      read into a profile
 *                                                  `--> publish     it is the output itself
 */
#ifndef COLLECT_COUNT_TALLY_FILE_H
#define COLLECT_COUNT_TALLY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/tally.h"
#include "base/error.h"
#include "collect/sample/backend.h"

struct instrumented_tally {
	char *path;                  /* absolute; owned. NULL: there is no file */
	struct tally_header *header; /* mapped; NULL: no longer */
	int fd;                      /* -1: closed */
};

/* Makes it beside `output`; one that is there already is left alone, and this gets another name. */
int instrumented_tally_make(struct instrumented_tally *tally, const char *output, enum tally_measurement measurement,
			    const struct backend_request *request, struct error *error);

/* Processes that count in it and still run. */
size_t instrumented_tally_running(const struct instrumented_tally *tally);
/* Programs have opened it, or tried to. */
uint32_t instrumented_tally_processes(const struct instrumented_tally *tally);

/* Nobody begins to count in it any more. */
void instrumented_tally_end(struct instrumented_tally *tally);
/* It becomes the output; an older one is kept as OUTPUT.old. *bytes: how long it is. */
int instrumented_tally_publish(struct instrumented_tally *tally, const char *output, uint64_t *bytes,
			       struct error *error);
/* Removes it. */
void instrumented_tally_remove(struct instrumented_tally *tally);
/* Leaves the file where it is. {0} with fd -1 is fine. */
void instrumented_tally_release(struct instrumented_tally *tally);

#endif
