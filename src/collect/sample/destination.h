/*
 * Where a run's profile goes while it grows: to a file, or to who prints single
 * events. The monitor knows no more of it than this.
 *
 *   open -> publish -> (event... flush)* -> flush -> finish -> close
 */
#ifndef COLLECT_SAMPLE_DESTINATION_H
#define COLLECT_SAMPLE_DESTINATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/recorder.h"
#include "frames/frames.h"
#include "profile/profile.h"

struct destination {
	void *context;
	uint64_t flush_ns; /* from flush to flush */
	/* Named while recording, by `flush` itself: the monitor does not at the end. */
	bool names_itself;

	/* Before anything runs; an error ends it all. NULL: nothing to open. */
	int (*open)(void *context, struct error *error);
	/* The target runs. NULL: no matter. */
	int (*publish)(void *context, struct error *error);
	/* Each sample, and where it is in the profile; NULL: no matter. */
	recorder_on_event *event;
	/* Takes what the profile gained; its hits are then cleared. `names`: how to
	 * reach the modules' files. After an error it is not called again. */
	int (*flush)(void *context, struct profile *profile, const struct frames_options *names, struct error *error);
	/* After the last flush: the totals are known, and unless it names itself all
	 * addresses are named. */
	int (*finish)(void *context, struct profile *profile, struct error *error);
	/* In any case, at the end. NULL: nothing to close. */
	void (*close)(void *context);
};

#endif
