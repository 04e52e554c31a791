/* Tells the caller how far symbolizing is, without asking the clock too often. */
#ifndef FRAMES_NATIVE_PROGRESS_H
#define FRAMES_NATIVE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "frames/native/symbolize.h"

struct progress {
	const struct symbolize_options *options;
	size_t done; /* locations */
	size_t total;
	uint64_t told_ns;
	unsigned ticks;
};

enum { PROGRESS_INTERVAL_NS = 20 * 1000 * 1000, PROGRESS_TICKS = 256 };

static inline uint64_t progress_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* After each piece of work that may take long by itself. */
static inline void progress_tell(struct progress *progress)
{
	if (!progress->options->progress)
		return;
	uint64_t now = progress_now_ns();
	if (now - progress->told_ns < PROGRESS_INTERVAL_NS)
		return;
	progress->told_ns = now;
	progress->options->progress(progress->options->context, progress->done, progress->total);
}

/* After each of many small ones. */
static inline void progress_tick(struct progress *progress)
{
	if (++progress->ticks % PROGRESS_TICKS == 0)
		progress_tell(progress);
}

#endif
