/*
 * The receiver of a run's profile while the profile grows: a file, or the lines of `cpprof trace`. The
 * monitor uses destinations only through this interface.
 *
 *   open -> publish -> (event... flush)* -> flush -> finish -> close
 */
#ifndef COLLECT_SAMPLE_DESTINATION_H
#define COLLECT_SAMPLE_DESTINATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/sample_sink.h"
#include "frames/frames.h"
#include "profile/profile.h"

struct destination {
	void *context;
	uint64_t flush_ns; /* time between two flushes */
	/* `flush` names the addresses while recording, so the monitor does not name them at the end. */
	bool names_itself;
	/* `open` may wait for somebody who reads a FIFO, and signals end that wait as usual. */
	bool waits;

	/* Called before anything runs; an error ends the run. NULL: nothing to open. */
	int (*open)(void *context, struct error *error);
	/* Called when the target has started. NULL: not needed. */
	int (*publish)(void *context, struct error *error);
	/* Receives each sample and its position in the profile. NULL: not needed. */
	sample_sink_on_event *event;
	/* Receives everything that the profile gained since the last flush; the hits are then cleared.
	 * `names` opens the modules' files. After an error it is not called again, unless can_resume. */
	int (*flush)(void *context, struct profile *profile, const struct frames_options *names, struct error *error);
	/* Returns whether a flush that failed has written nothing, so that it may be repeated with the same hits and
	 * more: the disk is full. NULL: never. */
	bool (*can_resume)(void *context);
	/* Called after the last flush: the totals are known and, unless names_itself is set, all addresses
	 * are named. */
	int (*finish)(void *context, struct profile *profile, struct error *error);
	/* Called at the end in any case. NULL: nothing to close. */
	void (*close)(void *context);
};

#endif
