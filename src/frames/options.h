/* The options and limits of naming a profile: for frames/frames.h and the parts that it calls. */
#ifndef FRAMES_OPTIONS_H
#define FRAMES_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The limits of naming. */
struct frames_limits {
	uint64_t memory_bytes; /* for one module; 0: 2 GB */
	uint64_t cpu_ns;       /* CPU time for all modules, beyond 100 ns for each byte of their files; 0: 10 s */
};

struct frames_options {
	/* Opens the ELF file of a module; returns a descriptor that frames/ closes, or a negative error with the reason
	 * in `error`. NULL: the module's path is opened. The recorder uses it for files that are in a container's root,
	 * or were deleted or replaced. */
	int (*open_module)(void *context, uint32_t module, struct error *error);
	/* Returns whether the locations of a module get frames in this call; NULL: all do. */
	bool (*wants_module)(void *context, uint32_t module);
	/* Called about every 20 ms and once at the end, with the number of locations done and of all locations; may be
	 * NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	/* Called about ten times a second while a debug file of the module at `path` is downloaded, and with NULL when that is over. `total`
	 * is 0 while the size is unknown. NULL: debug files are not downloaded, because the caller cannot wait. */
	void (*download)(void *context, const char *path, uint64_t done, uint64_t total);
	void *context;
	struct frames_limits limits;
	/* Finds what tail calls removed from the paths (frames/tail_frames.h), too. Only for a whole profile: it goes through all paths. */
	bool finds_tail_calls;
	/* When each of the first `time_count` locations was sampled, in ns of CLOCK_MONOTONIC, for code whose memory is used again; NULL:
	 * unknown. */
	const uint64_t *times;
	size_t time_count;
};

#endif
