/* Reports the progress of naming to the caller, without reading the clock too often. */
#ifndef FRAMES_PROGRESS_H
#define FRAMES_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "frames/options.h"

struct progress {
	const struct frames_options *options;
	size_t done; /* locations */
	size_t total;
	uint64_t reported_ns;
	unsigned ticks;
};

enum { PROGRESS_INTERVAL_NS = 20 * 1000 * 1000, PROGRESS_TICKS = 256 };

static inline uint64_t progress_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void progress_init(struct progress *progress, const struct frames_options *options, size_t total)
{
	*progress = (struct progress){ .options = options, .total = total, .reported_ns = progress_now_ns() };
}

/* Call after each step that may take long. */
static inline void progress_report(struct progress *progress)
{
	if (!progress->options->progress)
		return;
	uint64_t now = progress_now_ns();
	if (now - progress->reported_ns < PROGRESS_INTERVAL_NS)
		return;
	progress->reported_ns = now;
	progress->options->progress(progress->options->context, progress->done, progress->total);
}

/* Call after each of many short steps. */
static inline void progress_tick(struct progress *progress)
{
	if (++progress->ticks % PROGRESS_TICKS == 0)
		progress_report(progress);
}

#endif
