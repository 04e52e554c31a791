/*
 * Runs a command whose calls the compiler's hooks count: `record --instrumented`. There is no monitor: the program
 * counts into a file that is mapped into it, and cpprof reads that file after the program has ended.
 *
 *   prepare    checks everything, and changes nothing on disk
 *      |       the tally is created beside the output
 *   run        the command counts; signals such as ^C are handled as in any run
 *      |       processes that it left behind get a moment to end
 *   read       the tally becomes a profile with names
 *   write      writes OUTPUT and removes the tally; the tally of a trace becomes OUTPUT itself
 *
 * An error after the run leaves the tally; the commands that read profiles read it, too.
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
	/* Its resources, time_interval, paused, command, command_line, rank, progress, download, warn
	 * and context are used; the rest is ignored. The file of a trace has no rank. */
	const struct record_options *record;
	enum tally_measurement measurement;
	const char *implementation; /* a library that the probe points call, too (cpprof/implementation.h), or NULL */
	const char *output;
	bool wrap; /* preload libcpprof-wrap.so even if the command is not linked with it */
};

struct instrumented_result {
	struct profile *profile; /* the caller frees it; NULL: nothing was counted */
	uint64_t calls, blocks, samples, lost;
	uint64_t bytes;    /* size of the output */
	char nothing[512]; /* why nothing was counted, and a remedy; "": something was counted */
	bool was_killed;   /* by a signal that a shell reports */
	bool incomplete;   /* `error` says which part of the output is missing, and where the tally is */
	int status;        /* exit status of the command, as a shell reports it */
};

/* Sets the measurement with a name, or the implementation if the name names a library; an implementation is
 * used with the measurement `paths`. Returns 0, or ERROR_USAGE with a list of the measurements. */
int instrumented_choose(const char *name, struct instrumented_options *options, struct error *error);

/* Records. Returns 0 if the command ran, even if reading or writing failed afterwards (see `incomplete`); otherwise
 * a negative error, and nothing ran. */
int record_instrumented(const struct instrumented_options *options, struct instrumented_result *result,
			struct error *error);

#endif
