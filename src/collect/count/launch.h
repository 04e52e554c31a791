/*
 * A run of which the compiler's hooks count the calls: `record --instrumented`. No monitor looks on: the program counts
 * by itself, into a file that is mapped into it, and what it has counted is read when it has ended.
 *
 *   prepare    everything is checked, and nothing changed on disk
 *      |       the tally is made beside the output
 *   run        the command counts; ^C and signals as in any run
 *      |       processes that it has left behind get a moment to end
 *   read       the tally becomes a profile with names
 *   write      OUTPUT; the tally is removed. Of a trace it is the output itself
 *
 * Whatever fails after the run leaves the tally, which the commands that read profiles read too.
 */
#ifndef COLLECT_COUNT_LAUNCH_H
#define COLLECT_COUNT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/tally.h"
#include "base/error.h"
#include "collect/sample/monitor.h"
#include "profile/profile.h"

struct instrumented_options {
	/* resources, time_interval, paused, command, command_line, progress, warn and context; no others are looked at */
	const struct record_options *record;
	enum tally_measurement measurement;
	const char
		*implementation; /* a library that is told of probe points too (cpprof/implementation.h); NULL: none */
	const char *output;
	bool wrap; /* with libcpprof-wrap.so, also if the command is not linked with it */
};

struct instrumented_result {
	struct profile *profile; /* the caller's, to be freed; NULL: nothing was counted */
	uint64_t calls, blocks, samples, lost;
	uint64_t bytes;    /* of the output */
	char nothing[512]; /* why nothing was counted, and what would help; "": something was */
	bool incomplete;   /* `error` says what of the output is missing, and where the tally is */
	int status;        /* of the command, as a shell says it */
};

/* What is called so: a measurement, or the file of an implementation, which goes with `paths`. Else an error that lists them. */
int instrumented_choose(const char *name, struct instrumented_options *options, struct error *error);

/* Records. 0 when the command ran, whatever came of it; otherwise an error, and nothing has run. */
int record_instrumented(const struct instrumented_options *options, struct instrumented_result *result,
			struct error *error);

#endif
